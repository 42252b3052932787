import { describe, expect, test } from 'vitest';
import { costOfAudio, costOfTokens, minorUnitOf, toPayable } from './money.ts';

const price = { input_micros_per_million: 200_000, output_micros_per_million: 600_000 };

describe('costOfTokens', () => {
  test('charges cached input at its own price, and at the input price without one', () => {
    const cached = {
      input_micros_per_million: 1_000_000,
      output_micros_per_million: 0,
      cached_input_micros_per_million: 100_000,
    };
    expect(costOfTokens(cached, { input: 1_013, output: 0, cachedInput: 1_008 })).toBe(106);
    const { cached_input_micros_per_million: _, ...plain } = cached;
    expect(costOfTokens(plain, { input: 1_013, output: 0, cachedInput: 1_008 })).toBe(1_013);
    expect(
      costOfTokens({ ...cached, cached_input_micros_per_million: 0 }, { input: 8, output: 0, cachedInput: 8 }),
    ).toBe(0);
  });

  test('rounds up the sum, not each part', () => {
    expect(costOfTokens(price, { input: 1, output: 1 })).toBe(1);
    expect(costOfTokens(price, { input: 5, output: 0 })).toBe(1);
    expect(costOfTokens(price, { input: 6, output: 0 })).toBe(2);
    expect(costOfTokens(price, { input: 0, output: 0 })).toBe(0);
  });

  test('is exact beyond the precision of floats', () => {
    expect(
      costOfTokens(
        { input_micros_per_million: 9_007_199_254, output_micros_per_million: 1 },
        { input: 999_999, output: 1 },
      ),
    ).toBe(9_007_190_247);
  });

  test('throws on a fractional or negative count', () => {
    expect(() => costOfTokens(price, { input: 0.5, output: 0 })).toThrow(RangeError);
    expect(() => costOfTokens(price, { input: -1, output: 0 })).toThrow(RangeError);
  });
});

describe('costOfAudio', () => {
  test('rounds up to whole micros', () => {
    expect(costOfAudio(100, 1000)).toBe(100);
    expect(costOfAudio(100, 1001)).toBe(101);
  });
});

test.each([
  ['EUR', 10_000, 10_000],
  ['HUF', 10_000, 10_000],
  ['JPY', 1_000_000, 1_000_000],
  ['KWD', 1_000, 10_000],
  ['ISK', 10_000, 1_000_000],
  ['UGX', 10_000, 1_000_000],
])('counts %s in units of %i micros and pays multiples of %i', (currency, micros, stepMicros) => {
  expect(minorUnitOf(currency)).toEqual({ micros, stepMicros });
});

test('knows every currency in one group only, and none that Stripe does not charge', () => {
  for (const currency of ['BHD', 'JOD', 'OMR', 'TND', 'KRW', 'TWD', 'USD']) {
    const unit = minorUnitOf(currency);
    expect(unit === undefined ? Number.NaN : unit.stepMicros % unit.micros).toBe(0);
  }
  expect(minorUnitOf('XXX')).toBeUndefined();
  expect(minorUnitOf('eur')).toBeUndefined();
});

test('rounds to the nearest payable amount', () => {
  expect(toPayable(1_234_567, 'EUR')).toBe(1_230_000);
  expect(toPayable(1_500_000, 'JPY')).toBe(2_000_000);
  expect(toPayable(5_124_000, 'KWD')).toBe(5_120_000);
  expect(() => toPayable(1, 'XXX')).toThrow(RangeError);
});
