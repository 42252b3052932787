import { z } from 'zod';

/** Micro-units in one unit of a currency: 1 EUR = 1,000,000 micros. */
export const MICROS_PER_UNIT = 1_000_000;

/** An amount in micro-units; an integer that a JSON number holds exactly. */
export const microsSchema = z.int().meta({ description: 'Micro-units of the currency (1 EUR = 1,000,000).' });

/** An amount in micro-units that is not negative. */
export const nonNegativeMicrosSchema = z.int().min(0);

/** ISO 4217 code, upper case. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/);

/** Prices are stated for this many tokens. */
const TOKENS_PER_PRICE = 1_000_000n;

/** The price of token use: micros for one million input and output tokens. */
export interface TokenPrice {
  input_micros_per_million: number;
  output_micros_per_million: number;
}

/** Cost in micros of a request by tokens, rounded up once. Throws RangeError on a count that is not a whole number of at least 0. */
export const costOfTokens = (price: TokenPrice, tokens: { input: number; output: number }): number => {
  const total =
    wholeNumber(tokens.input) * BigInt(price.input_micros_per_million) +
    wholeNumber(tokens.output) * BigInt(price.output_micros_per_million);
  return Number((total + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE);
};

/** Cost in micros of audio, rounded up once; durations are whole milliseconds. */
export const costOfAudio = (microsPerSecond: number, durationMs: number): number =>
  Number((wholeNumber(durationMs) * BigInt(microsPerSecond) + 999n) / 1000n);

const wholeNumber = (count: number): bigint => {
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new RangeError(`a count must be a whole number of at least 0, got ${count}`);
  }
  return BigInt(count);
};
