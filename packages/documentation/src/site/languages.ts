/** Languages of the guides. The reference and the other pages are English only. */
export const LANGUAGES = ['en', 'it'] as const;

export type Language = (typeof LANGUAGES)[number];

/** A text of the site in each language. */
export type Localized = Readonly<Record<Language, string>>;

const GUIDES = 'guides/';
const ITALIAN_GUIDES = `${GUIDES}it/`;

export const languageOf = (source: string): Language => (source.startsWith(ITALIAN_GUIDES) ? 'it' : 'en');

/** Returns the guide in another language: `guides/connect.md` is `guides/it/connect.md` in Italian. */
export const inLanguage = (source: string, language: Language): string => {
  const name = source.replace(ITALIAN_GUIDES, '').replace(GUIDES, '');
  return `${language === 'it' ? ITALIAN_GUIDES : GUIDES}${name}`;
};

export const isGuide = (source: string): boolean => source.startsWith(GUIDES);
