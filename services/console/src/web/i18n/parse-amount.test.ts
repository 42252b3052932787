import { expect, test } from 'vitest';
import { parseAmount, typedAmount } from './formats.ts';

test.each([
  ['25', 25_000_000],
  ['25.5', 25_500_000],
  ['25,05', 25_050_000],
  [' 0.01 ', 10_000],
  ['0', 0],
])('reads %j', (text, micros) => {
  expect(parseAmount(text)).toBe(micros);
});

test.each(['', 'x', '-1', '1.234', '1,000.00', '1e3', '25€', '٣'])('refuses %j', (text) => {
  expect(parseAmount(text)).toBeUndefined();
});

test.each([
  [25_000_000, '25'],
  [25_500_000, '25.5'],
  [100_000_000, '100'],
  [0, '0'],
])('writes %d as %j', (micros, text) => {
  expect(typedAmount(micros, 'en')).toBe(text);
  expect(typedAmount(micros, 'it')).toBe(text.replace('.', ','));
  expect(parseAmount(typedAmount(micros, 'it'))).toBe(micros);
});
