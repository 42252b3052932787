import { describe, expect, test } from 'vitest';
import { taxOf } from './invoice.ts';

describe('taxOf', () => {
  test.each([
    [12_200_000, null, 2_200_000, 22],
    [5_000_000, 'IT01234567890', 900_000, 22],
    [10_000, null, 0, 22],
    [12_200_000, 'DE123456789', 0, 0],
  ])(
    'finds in a price of %d for a customer with the VAT number %s a tax of %d (%d%%)',
    (total, vat, taxMicros, taxPercent) => {
      expect(taxOf({ totalMicros: total, currency: 'EUR' }, vat)).toEqual({ taxMicros, taxPercent });
    },
  );

  test('rounds to what the currency can pay', () => {
    expect(taxOf({ totalMicros: 1_000_000_000, currency: 'JPY' }, null).taxMicros).toBe(180_000_000);
    expect(taxOf({ totalMicros: 5_120_000, currency: 'KWD' }, null).taxMicros).toBe(920_000);
  });
});
