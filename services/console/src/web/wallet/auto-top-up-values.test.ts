import { expect, test } from 'vitest';
import { checkAutoTopUp, toAutoTopUp, valuesOf } from './top-up-values.ts';

const FAULTS = { notAnAmount: 'amount', tooLittle: 'little', tooMuch: 'much', belowOneTopUp: 'ceiling' };
const SETTINGS = {
  enabled: true,
  below_micros: 5_000_000,
  amount_micros: 20_500_000,
  monthly_max_micros: 100_000_000,
};

test('returns the settings of an unchanged form', () => {
  expect(valuesOf(SETTINGS, 'en')).toEqual({ below_micros: '5', amount_micros: '20.5', monthly_max_micros: '100' });
  expect(toAutoTopUp(valuesOf(SETTINGS, 'en'))).toEqual(SETTINGS);
  expect(checkAutoTopUp(valuesOf(SETTINGS, 'en'), FAULTS)).toEqual([]);
});

test.each([
  [{ below_micros: '' }, ['below_micros', 'missing']],
  [{ below_micros: 'x' }, ['below_micros', 'value_error']],
  [{ below_micros: '10000,01' }, ['below_micros', 'value_error']],
  [{ amount_micros: '0.99' }, ['amount_micros', 'value_error']],
  [{ monthly_max_micros: '20,49' }, ['monthly_max_micros', 'value_error']],
])('refuses %o', (typed, [path, type]) => {
  expect(checkAutoTopUp({ ...valuesOf(SETTINGS, 'en'), ...typed }, FAULTS)).toMatchObject([
    { loc: ['body', path], type },
  ]);
});
