import type { IncomingMessage } from 'node:http';
import { createMoneyFormats } from '@svc/contracts/format-money';
import { type PageTexts, TEXTS_EN } from './texts-en.ts';
import { TEXTS_IT } from './texts-it.ts';

export type Locale = 'it' | 'en';

/** Texts and formats of a page. */
export interface PageLanguage {
  readonly locale: Locale;
  /** The query names the language, so the links of the page must name it too. */
  readonly isChosen: boolean;
  readonly text: PageTexts;
  readonly money: (amountMicros: number, currency: string) => string;
  readonly date: (at: Date) => string;
  readonly time: (at: Date) => string;
}

/** Returns the texts of pages and invoices in one language. */
export const textsOf = (locale: Locale): PageTexts => TEXTS[locale];

const TEXTS = { it: TEXTS_IT, en: TEXTS_EN } as const;
const TAGS = { it: 'it-IT', en: 'en-GB' } as const;
const MONEY = { it: createMoneyFormats('it'), en: createMoneyFormats('en') } as const;
/** Entries of `Accept-Language` that are read. */
const PREFERENCES_MAX = 10;

/** Returns the chosen language, else the first that the browser accepts, else Italian. */
export const languageOf = ({ headers }: IncomingMessage, chosen: Locale | undefined): PageLanguage => {
  const accepted = (headers['accept-language'] ?? '').split(',', PREFERENCES_MAX);
  const preferences = accepted.map((entry) => entry.trim().slice(0, 2).toLowerCase());
  const locale = chosen ?? preferences.find((entry) => entry === 'it' || entry === 'en') ?? 'it';
  return languageIn(locale, chosen !== undefined);
};

/** Returns the texts and formats of a language. */
export const languageIn = (locale: Locale, isChosen: boolean): PageLanguage => {
  const tag = TAGS[locale];
  return {
    locale,
    isChosen,
    text: TEXTS[locale],
    money: MONEY[locale].exact,
    date: (at) => new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' }).format(at),
    time: (at) => {
      const format = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
      return `${format.format(at)} UTC`;
    },
  };
};
