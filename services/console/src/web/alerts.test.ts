import { expect, test } from 'vitest';
import { addTyped, checkAlerts, toggle, toSettings, valuesOf } from './alerts.tsx';
import { en } from './i18n/en/index.ts';

const STORED = { thresholds_percent: [33, 100], wallet_below_micros: 2_500_000 };

test('offers the usual percentages and the stored ones', () => {
  const values = valuesOf(STORED, 'en');
  expect(values).toMatchObject({ offered: [33, 50, 75, 80, 90, 100], wallet_below_micros: '2.5' });
  expect(toSettings(values)).toEqual(STORED);
});

test('chooses and drops percentages in ascending order, without repeats', () => {
  const values = valuesOf(STORED, 'en');
  expect(toggle(values, 80)).toEqual([33, 80, 100]);
  expect(toggle(values, 33)).toEqual([100]);
  expect(addTyped({ ...values, another: ' 7% ' })).toMatchObject({ thresholds_percent: [7, 33, 100], another: '' });
  expect(toSettings({ ...values, another: '100' }).thresholds_percent).toEqual([33, 100]);
});

test('turns alerts off with no percentage and an empty amount', () => {
  const values = { ...valuesOf(STORED, 'en'), thresholds_percent: [], wallet_below_micros: '' };
  expect(toSettings(values)).toEqual({ thresholds_percent: [], wallet_below_micros: null });
});

test.each(['0', '101', '12.5', 'x'])('refuses %j as a percentage', (another) => {
  expect(checkAlerts({ ...valuesOf(STORED, 'en'), another }, en)).toMatchObject([{ loc: ['body', 'another'] }]);
});

test('refuses a twenty-first percentage, and an amount of zero', () => {
  const thresholds_percent = Array.from({ length: 20 }, (_, index) => index + 1);
  const values = { ...valuesOf(STORED, 'en'), thresholds_percent, another: '99', wallet_below_micros: '0' };
  expect(checkAlerts(values, en).map(({ loc }) => loc[1])).toEqual(['another', 'wallet_below_micros']);
  expect(checkAlerts({ ...values, another: '20', wallet_below_micros: '0,01' }, en)).toEqual([]);
});
