import type { Locale } from '@svc/contracts';
import { createMoneyFormats } from '@svc/contracts/format-money';

/** Decimal places of an amount in micros. */
export const MICRO_DIGITS = 6;

const MONEY = { en: createMoneyFormats('en'), it: createMoneyFormats('it') };

interface AmountFormat {
  readonly currency: string;
  readonly locale: Locale;
}

/** Formats a price or a limit in full, such as “€2.00” or “0,000125 €”. */
export const formatAmount = (micros: number, { currency, locale }: AmountFormat): string =>
  MONEY[locale].exact(micros, currency);

/** Formats use or a balance, rounded to the currency's minor unit, such as “€1.20” or “under €0.01”. */
export const formatUse = (micros: number, { currency, locale }: AmountFormat): string =>
  MONEY[locale].rounded(micros, currency);

/** Formats the UTC day of a time with its weekday, such as “Monday, November 30”. */
export const formatWeekday = (at: string, locale: Locale): string =>
  new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' }).format(
    new Date(at),
  );

/** Formats the UTC day of a time in a language. */
export const formatDay = (at: string, locale: Locale): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(at));

/** Formats a time in a language, in UTC. */
export const formatInstant = (at: Date, locale: Locale): string =>
  `${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(at)} UTC`;
