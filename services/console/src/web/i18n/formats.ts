import type { Locale } from '@svc/contracts';
import { createMoneyFormats, decimalOf, LANGUAGE_TAGS, type MoneyFormats } from '@svc/contracts/format-money';

/** Writes numbers, money and times as people of a locale do. Times are in the person's own time zone. */
export interface Formats {
  readonly number: (value: number) => string;
  /** Few digits: `1.2K`. */
  readonly compact: (value: number) => string;
  /** 0 to 100, whole. */
  readonly percent: (value: number) => string;
  /** Share of a limit that is used: whole, and `<1%` for what is less than that but something. */
  readonly usedPercent: (percent: number, used: number) => string;
  readonly money: MoneyFormats['exact'];
  readonly shortMoney: MoneyFormats['rounded'];
  readonly fineMoney: MoneyFormats['fine'];
  /** Exact, as the steps of an axis are round, and three digits from a thousand on: `€1.5k`. */
  readonly compactMoney: (micros: number, currency: string) => string;
  readonly date: (instant: string | Date) => string;
  /** Day and month alone. */
  readonly shortDate: (instant: string | Date) => string;
  /** Day and month of two days: `3 – 9 Nov`; of one day if they are the same. */
  readonly shortRange: (first: Date, last: Date) => string;
  /** Day and month with the day of the week. */
  readonly weekday: (instant: string | Date) => string;
  readonly dateTime: (instant: string | Date) => string;
  readonly dateTimeSeconds: (instant: string | Date) => string;
  /** `in 3 days`, `2 hours ago`. */
  readonly relative: (instant: string | Date, now: Date) => string;
  /** Whole milliseconds: `420 ms`, `1.4 s`. */
  readonly duration: (milliseconds: number) => string;
  /** Time to wait, rounded up: `30 seconds`, `12 minutes`. */
  readonly wait: (seconds: number) => string;
  readonly list: (items: readonly string[]) => string;
}

const MICROS_PER_UNIT = 1_000_000;
const THOUSAND_MICROS = 1_000 * MICROS_PER_UNIT;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS: readonly { unit: Intl.RelativeTimeFormatUnit; seconds: number; below: number }[] = [
  { unit: 'minute', seconds: MINUTE, below: HOUR },
  { unit: 'hour', seconds: HOUR, below: DAY },
  { unit: 'day', seconds: DAY, below: 30 * DAY },
  { unit: 'month', seconds: 30 * DAY, below: 365 * DAY },
  { unit: 'year', seconds: 365 * DAY, below: Number.POSITIVE_INFINITY },
];

/** Creates the formats of a locale; `timeZone` is the browser's unless named. Browsers take milliseconds for each of their formatters, so none is made before it is used. */
export const createFormats = (locale: Locale, timeZone?: string): Formats => {
  const tag = LANGUAGE_TAGS[locale];
  const number = numberFormats(locale);
  const dates = dateFormats(tag, timeZone);
  const relative = {
    near: once(() => new Intl.RelativeTimeFormat(tag, { numeric: 'auto' })),
    far: once(() => new Intl.RelativeTimeFormat(tag, { numeric: 'always' })),
  };
  const list = once(() => new Intl.ListFormat(tag, { type: 'conjunction' }));
  return {
    ...number,
    ...dates,
    relative: (instant, now) => formatRelative(relative, toDate(instant), now),
    list: (items) => list().format(items),
  };
};

/** Returns a function that calls `create` the first time, and always returns what that returned. */
const once = <T>(create: () => T): (() => T) => {
  let created: { readonly value: T } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
};

/** Returns a function that calls `create` once for each text. */
const onceFor = <T>(create: (text: string) => T): ((text: string) => T) => {
  const created = new Map<string, T>();
  return (text) => {
    const known = created.get(text);
    if (known !== undefined) return known;
    const value = create(text);
    created.set(text, value);
    return value;
  };
};

type NumberFormats = Pick<
  Formats,
  | 'number'
  | 'compact'
  | 'percent'
  | 'usedPercent'
  | 'money'
  | 'shortMoney'
  | 'fineMoney'
  | 'compactMoney'
  | 'duration'
  | 'wait'
>;

const numberFormats = (locale: Locale): NumberFormats => {
  const tag = LANGUAGE_TAGS[locale];
  const money = createMoneyFormats(locale);
  const number = once(() => new Intl.NumberFormat(tag));
  const compact = once(() => new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 }));
  const percent = once(() => new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 0 }));
  const compactMoney = onceFor(
    (currency) =>
      new Intl.NumberFormat(tag, {
        style: 'currency',
        currency,
        notation: 'compact',
        minimumFractionDigits: 0,
        maximumSignificantDigits: 3,
      }),
  );
  const tenths = once(() => new Intl.NumberFormat(tag, { maximumFractionDigits: 1 }));
  const unit = (name: string, value: number): string =>
    new Intl.NumberFormat(tag, { style: 'unit', unit: name, unitDisplay: 'long' }).format(value);
  return {
    number: (value) => number().format(value),
    compact: (value) => compact().format(value),
    percent: (value) => percent().format(value / 100),
    usedPercent: (value, used) =>
      used > 0 && value < 1 ? `<${percent().format(0.01)}` : percent().format(value / 100),
    money: money.exact,
    shortMoney: money.rounded,
    fineMoney: money.fine,
    compactMoney: (micros, currency) => {
      if (micros === 0 || Math.abs(micros) >= THOUSAND_MICROS) {
        return compactMoney(currency).format(micros / MICROS_PER_UNIT);
      }
      return money.exact(micros, currency);
    },
    duration: (ms) => (ms < 1000 ? `${number().format(ms)}\u00a0ms` : `${tenths().format(ms / 1000)}\u00a0s`),
    wait: (seconds) =>
      seconds < MINUTE * 2 ? unit('second', Math.ceil(seconds)) : unit('minute', Math.ceil(seconds / MINUTE)),
  };
};

const dateFormats = (
  tag: string,
  timeZone: string | undefined,
): Pick<Formats, 'date' | 'shortDate' | 'shortRange' | 'weekday' | 'dateTime' | 'dateTimeSeconds'> => {
  const make = (options: Intl.DateTimeFormatOptions) =>
    once(() => new Intl.DateTimeFormat(tag, timeZone === undefined ? options : { ...options, timeZone }));
  const date = make({ dateStyle: 'medium' });
  const shortDate = make({ day: 'numeric', month: 'short' });
  const weekday = make({ weekday: 'short', day: 'numeric', month: 'short' });
  const dateTime = make({ dateStyle: 'medium', timeStyle: 'short' });
  const dateTimeSeconds = make({ dateStyle: 'medium', timeStyle: 'medium' });
  return {
    date: (instant) => date().format(toDate(instant)),
    shortDate: (instant) => shortDate().format(toDate(instant)),
    shortRange: (first, last) => shortDate().formatRange(first, last),
    weekday: (instant) => weekday().format(toDate(instant)),
    dateTime: (instant) => dateTime().format(toDate(instant)),
    dateTimeSeconds: (instant) => dateTimeSeconds().format(toDate(instant)),
  };
};

const toDate = (instant: string | Date): Date => (typeof instant === 'string' ? new Date(instant) : instant);

/** Days have names, such as tomorrow. Thirty days from now may be this month or the next one, so months have none. */
type RelativeFormats = Readonly<Record<'near' | 'far', () => Intl.RelativeTimeFormat>>;

const formatRelative = ({ near, far }: RelativeFormats, instant: Date, now: Date): string => {
  const seconds = (instant.getTime() - now.getTime()) / 1000;
  const distance = Math.abs(seconds);
  if (distance < MINUTE) return near().format(0, 'second');
  // Rounded before the unit is chosen: 59 minutes and a half are an hour, not 60 minutes.
  const rounded = STEPS.map((step) => ({ ...step, count: Math.round(distance / step.seconds) }));
  const step = rounded.find(({ count, seconds: unit, below }) => count * unit < below);
  if (step === undefined) return '';
  return (step.seconds > DAY ? far : near)().format(Math.sign(seconds) * step.count, step.unit);
};

const AMOUNT = /^(\d{1,9})(?:[.,](\d{1,2}))?$/;
const MICROS_PER_CENT = 10_000;

/** Reads an amount as people type it, with a comma or a point and at most two decimals, in micro-units; undefined for anything else. */
export const parseAmount = (text: string): number | undefined => {
  const [, whole, cents = ''] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return (Number(whole) * 100 + Number(cents.padEnd(2, '0'))) * MICROS_PER_CENT;
};

/** Writes micro-units as a person of the locale types them: `12.5`, or `12,5`. */
export const typedAmount = (micros: number, locale: Locale): string => {
  const text = decimalOf(micros).replace(/\.?0+$/, '');
  return locale === 'it' ? text.replace('.', ',') : text;
};
