import type { IncomingMessage } from 'node:http';
import { type PageTexts, TEXTS_EN } from './texts-en.ts';
import { TEXTS_IT } from './texts-it.ts';

export type Locale = 'it' | 'en';

/** Texts and formats of a page. */
export interface PageLanguage {
  readonly locale: Locale;
  /** The query names the language, so the links of the page must name it too. */
  readonly isChosen: boolean;
  readonly text: PageTexts;
  money(amountMicros: number, currency: string): string;
  date(at: Date): string;
  time(at: Date): string;
}

const TEXTS = { it: TEXTS_IT, en: TEXTS_EN } as const;
const TAGS = { it: 'it-IT', en: 'en-GB' } as const;
const MICROS_PER_UNIT = 1_000_000;
/** Entries of `Accept-Language` that are read. */
const PREFERENCES_MAX = 10;

/** Returns the chosen language, else the first that the browser accepts, else Italian. */
export const languageOf = ({ headers }: IncomingMessage, chosen: Locale | undefined): PageLanguage => {
  const accepted = (headers['accept-language'] ?? '').split(',', PREFERENCES_MAX);
  const preferences = accepted.map((entry) => entry.trim().slice(0, 2).toLowerCase());
  const locale = chosen ?? preferences.find((entry) => entry === 'it' || entry === 'en') ?? 'it';
  const tag = TAGS[locale];
  return {
    locale,
    isChosen: chosen !== undefined,
    text: TEXTS[locale],
    money: (amountMicros, currency) =>
      new Intl.NumberFormat(tag, {
        style: 'currency',
        currency,
        maximumFractionDigits: 6,
        minimumFractionDigits: 2,
      }).format(amountMicros / MICROS_PER_UNIT),
    date: (at) => new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' }).format(at),
    time: (at) => {
      const format = new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
      return `${format.format(at)} UTC`;
    },
  };
};
