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
