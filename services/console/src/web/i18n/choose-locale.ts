import type { Locale } from '@svc/contracts';

/** Hints for the language, the strongest first. */
export interface LocaleHints {
  /** Choice of the person in this browser. */
  readonly chosen: string | undefined;
  /** Language of the account. */
  readonly account: Locale | undefined;
  /** Languages that the browser asks for, the preferred one first. */
  readonly browser: readonly string[];
}

const LOCALES: readonly Locale[] = ['it', 'en'];

/** The language of the pages. Italian where nothing else is known, as everywhere in the product. */
export const chooseLocale = ({ chosen, account, browser }: LocaleHints): Locale => {
  const hints = [chosen, account, ...browser.map((tag) => tag.slice(0, 2).toLowerCase())];
  for (const hint of hints) {
    const known = LOCALES.find((locale) => locale === hint);
    if (known !== undefined) return known;
  }
  return 'it';
};

/** Returns the language that the pages are in, outside of components. */
export const documentLocale = (): Locale => (document.documentElement.lang === 'en' ? 'en' : 'it');

/** Returns the address of a guide in a language; without a name, that of the documentation. */
export const docsPath = (locale: Locale, page?: string): string =>
  ['/docs', ...(locale === 'it' ? ['it'] : []), ...(page === undefined ? [] : [page])].join('/');
