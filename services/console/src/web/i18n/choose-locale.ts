import type { Locale } from '@svc/contracts';

/** What a language may be chosen by, first come first served. */
export interface LocaleHints {
  /** What the person has chosen in this browser. */
  readonly chosen: string | undefined;
  /** What the account says. */
  readonly account: Locale | undefined;
  /** What the browser prefers, most wanted first. */
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
