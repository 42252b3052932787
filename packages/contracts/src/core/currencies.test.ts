import { expect, test } from 'vitest';
import { minorUnitOf, toPayable } from './currencies.ts';

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
