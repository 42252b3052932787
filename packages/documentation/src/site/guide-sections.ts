/** Languages of the guides. The reference and the other pages are English only. */
export const LANGUAGES = ['en', 'it'] as const;

export type Language = (typeof LANGUAGES)[number];

/** A text of the site in each language. */
type Localized = Readonly<Record<Language, string>>;

const GUIDES = 'guides/';
const ITALIAN_GUIDES = `${GUIDES}it/`;

export const languageOf = (source: string): Language => (source.startsWith(ITALIAN_GUIDES) ? 'it' : 'en');

/** Returns the guide in another language: `guides/connect.md` is `guides/it/connect.md` in Italian. */
export const inLanguage = (source: string, language: Language): string => {
  const name = source.replace(ITALIAN_GUIDES, '').replace(GUIDES, '');
  return `${language === 'it' ? ITALIAN_GUIDES : GUIDES}${name}`;
};

export const isGuide = (source: string): boolean => source.startsWith(GUIDES);

/** Group of search results. */
export type Area = 'guides' | 'reference' | 'operators';

/** A group of pages in the navigation. */
export interface SiteSection {
  readonly titles: Localized;
  readonly area: Area;
  /** English sources below `docs/`, in reading order. */
  readonly sources: readonly string[];
}

/** The guides and reference pages, in order. Other pages are reached by links. */
export const siteSections: readonly SiteSection[] = [
  {
    titles: { en: 'For people', it: 'Per le persone' },
    area: 'guides',
    sources: ['guides/what-apps-get.md'],
  },
  {
    titles: { en: 'For partner apps', it: 'Per le app partner' },
    area: 'guides',
    sources: [
      'guides/quick-start.md',
      'guides/connect.md',
      'guides/terminal.md',
      'guides/call.md',
      'guides/stream.md',
      'guides/transcribe.md',
      'guides/usage-and-limits.md',
      'guides/budgets.md',
      'receipts.md',
      'guides/handle-errors.md',
      'guides/receive-webhooks.md',
      'guides/go-live.md',
    ],
  },
  {
    titles: { en: 'For gateway users', it: 'Per chi usa il gateway' },
    area: 'guides',
    sources: [
      'guides/gateway.md',
      'guides/compliance.md',
      'guides/provenance.md',
      'guides/keys-and-wallet.md',
      'guides/provision-keys.md',
      'guides/organizations.md',
    ],
  },
  {
    titles: { en: 'For operators', it: 'Per chi gestisce il servizio' },
    area: 'operators',
    sources: [
      'guides/operators.md',
      'guides/one-machine.md',
      'guides/rotate-secrets.md',
      'guides/restore.md',
      'guides/people.md',
      'architecture.md',
    ],
  },
  {
    titles: { en: 'Reference', it: 'Riferimento (in inglese)' },
    area: 'reference',
    sources: [
      'errors.md',
      'clients.md',
      'sdk/index.md',
      'sdk/server.md',
      'sdk/ai-sdk.md',
      'sdk/element.md',
      'versions.md',
      'glossary.md',
    ],
  },
];

/** The page at `/docs`. */
export const INDEX_SOURCE = 'guides/index.md';

/** Sources of a section in a language. Pages that are not guides are English only. */
export const sourcesIn = (language: Language, { sources }: SiteSection): readonly string[] =>
  sources.map((source) => (isGuide(source) ? inLanguage(source, language) : source));

/** Returns the area of a page by its source. Pages outside of the navigation are for operators: runbooks, decisions. */
export const areaOf = (source: string): Area => {
  const english = isGuide(source) ? inLanguage(source, 'en') : source;
  return siteSections.find(({ sources }) => sources.includes(english))?.area ?? 'operators';
};
