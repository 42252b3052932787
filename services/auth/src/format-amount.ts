import { type Locale, MICROS_PER_UNIT } from '@svc/contracts';

/** Decimal places of an amount in micros. */
export const MICRO_DIGITS = 6;

/** Formats an amount in a language, such as “€2.00” or “0,000125 €”. */
export const formatAmount = (micros: number, { currency, locale }: { currency: string; locale: Locale }): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: MICRO_DIGITS }).format(
    micros / MICROS_PER_UNIT,
  );

/** Formats the UTC day of a time in a language. */
export const formatDay = (at: string, locale: Locale): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(at));
