import type { Locale } from '../auth/accounts.ts';

/** Writes amounts as docs/design-system.md says under “Amounts”. */
export interface MoneyFormats {
  /** The digits of the currency's minor unit, and as many more as the amount has. For prices and limits that someone has set. */
  readonly exact: (micros: number, currency: string) => string;
  /** Rounded to minor units, `under €0.01` for less than one. For use and balances on people's pages and in mails. */
  readonly rounded: (micros: number, currency: string) => string;
  /** Rounded to minor units, small sums to two significant digits: `€0.00047`, `€0.012`. For developers' tables and charts. */
  readonly fine: (micros: number, currency: string) => string;
}

const MICROS_PER_UNIT = 1_000_000;

/** British order of day and month: the product is European, its currency and zone too. */
export const LANGUAGE_TAGS: Readonly<Record<Locale, string>> = { en: 'en-GB', it: 'it-IT' };

const UNDER: Readonly<Record<Locale, (amount: string) => string>> = {
  en: (amount) => `under ${amount}`,
  it: (amount) => `meno di ${amount}`,
};

/** Creates the formats of a locale. Formatters are slow to create, so that none is made before it is used. */
export const createMoneyFormats = (locale: Locale): MoneyFormats => {
  const formats = new Map<string, Intl.NumberFormat>();
  const formatOf = (currency: string): Intl.NumberFormat => {
    const known = formats.get(currency);
    if (known !== undefined) return known;
    const options = { style: 'currency', currency, maximumFractionDigits: 6 } as const;
    const format = new Intl.NumberFormat(LANGUAGE_TAGS[locale], options);
    formats.set(currency, format);
    return format;
  };
  return {
    exact: (micros, currency) => write(formatOf(currency), micros),
    rounded: (micros, currency) => {
      const format = formatOf(currency);
      const minorUnit = minorUnitOf(format);
      return micros > 0 && micros < minorUnit
        ? UNDER[locale](write(format, minorUnit))
        : write(format, roundTo(minorUnit, micros));
    },
    fine: (micros, currency) => {
      const format = formatOf(currency);
      const step = Math.min(minorUnitOf(format), 10 ** Math.max(0, digitsOf(micros) - 2));
      return write(format, roundTo(step, micros));
    },
  };
};

/** Micros of the smallest unit of the format's currency. */
const minorUnitOf = (format: Intl.NumberFormat): number => {
  const { minimumFractionDigits: digits = 2 } = format.resolvedOptions();
  return MICROS_PER_UNIT / 10 ** digits;
};

const roundTo = (step: number, micros: number): number => Math.round(micros / step) * step;

const digitsOf = (micros: number): number => String(Math.abs(micros)).length;

/** Without floats: the digits are taken from the integer. */
const write = (format: Intl.NumberFormat, micros: number): string =>
  // Digits, at most one point and a sign: a StringNumericLiteral.
  format.format(decimalOf(micros) as Intl.StringNumericLiteral);

/** Micro-units as a decimal number: 1234500 is `1.234500`. */
export const decimalOf = (micros: number): string => {
  const digits = String(Math.abs(Math.trunc(micros))).padStart(7, '0');
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
};
