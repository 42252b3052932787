import { z } from 'zod';

/** Micros in one unit of a currency: 1 EUR = 1,000,000 micros. */
export const MICROS_PER_UNIT = 1_000_000;

/** Amount in micros, within the exact range of a JSON number. */
export const microsSchema = z.int().meta({ description: 'Micro-units of the currency (1 EUR = 1,000,000).' });

/** Amount in micros, at least 0. */
export const nonNegativeMicrosSchema = z.int().min(0);

/** ISO 4217 code, upper case. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/);

/** Tokens that a price refers to. */
const TOKENS_PER_PRICE = 1_000_000n;

/** Price in micros per million input and output tokens. */
export interface TokenPrice {
  readonly input_micros_per_million: number;
  readonly output_micros_per_million: number;
  /** Price of input that the provider read from its cache. Default: the input price. */
  readonly cached_input_micros_per_million?: number | undefined;
}

/** Tokens of one request. */
export interface PricedTokens {
  readonly input: number;
  readonly output: number;
  /** The part of the input that the provider read from its cache. */
  readonly cachedInput?: number;
}

/** Returns the cost of tokens in micros, rounded up once. Throws RangeError on a fractional or negative count. */
export const costOfTokens = (price: TokenPrice, tokens: PricedTokens): number => {
  const cached = wholeNumber(tokens.cachedInput ?? 0);
  const cachedPrice = BigInt(price.cached_input_micros_per_million ?? price.input_micros_per_million);
  const total =
    (wholeNumber(tokens.input) - cached) * BigInt(price.input_micros_per_million) +
    cached * cachedPrice +
    wholeNumber(tokens.output) * BigInt(price.output_micros_per_million);
  return Number((total + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE);
};

/** Returns the cost of audio in micros, rounded up once. Durations are whole milliseconds. */
export const costOfAudio = (microsPerSecond: number, durationMs: number): number =>
  Number((wholeNumber(durationMs) * BigInt(microsPerSecond) + 999n) / 1000n);

const wholeNumber = (count: number): bigint => {
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new RangeError(`a count must be a whole number of at least 0, got ${count}`);
  }
  return BigInt(count);
};

/** Smallest amounts of a currency, in micros. */
export interface MinorUnit {
  /** Value of 1 in the amounts of the payment provider. */
  readonly micros: number;
  /** Payable amounts are whole multiples of this. */
  readonly stepMicros: number;
}

const WHOLE = { micros: 1_000_000, stepMicros: 1_000_000 } as const;
const HUNDREDTH = { micros: 10_000, stepMicros: 10_000 } as const;
/** The provider refuses amounts whose third decimal is not 0. */
const THOUSANDTH = { micros: 1_000, stepMicros: 10_000 } as const;
/** The currency has no decimals any more, but the provider still counts hundredths, which must be 0. */
const WHOLE_IN_HUNDREDTHS = { micros: 10_000, stepMicros: 1_000_000 } as const;

const groups: readonly (readonly [MinorUnit, string])[] = [
  [WHOLE, 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'],
  [WHOLE_IN_HUNDREDTHS, 'ISK UGX'],
  [THOUSANDTH, 'BHD JOD KWD OMR TND'],
  [
    HUNDREDTH,
    `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CNY COP CRC CVE
    CZK DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR JMD KES KGS KHR KYD KZT LAK
    LBP LKR LRD LSL MAD MDL MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR
    RON RSD RUB SAR SBD SCR SEK SGD SHP SLE SOS SRD STD SZL THB TJS TOP TRY TTD TWD TZS UAH USD UYU UZS WST XCD XCG YER
    ZAR ZMW`,
  ],
];

const byCode: ReadonlyMap<string, MinorUnit> = new Map(
  groups.flatMap(([unit, codes]) => codes.split(/\s+/).map((code) => [code, unit] as const)),
);

/** Pattern of the currencies that can be charged: ISO 4217 codes in upper case. */
export const PAYABLE_CURRENCY = new RegExp(`^(?:${[...byCode.keys()].join('|')})$`);

/** Returns the minor unit of a currency, as Stripe counts it; undefined for one that Stripe does not charge. */
export const minorUnitOf = (currency: string): MinorUnit | undefined => byCode.get(currency);

/** Rounds an amount to the payable one that is nearest. Throws RangeError for an unknown currency. */
export const toPayable = (micros: number, currency: string): number => {
  const unit = minorUnitOf(currency);
  if (unit === undefined) throw new RangeError(`the minor unit of ${currency} is not known`);
  return Math.round(micros / unit.stepMicros) * unit.stepMicros;
};
