import { decimalOf } from '@svc/contracts/format-money';
import { describe, expect, test } from 'vitest';
import { createFormats } from './formats.ts';

const en = createFormats('en', 'Europe/Rome');
const it_ = createFormats('it', 'Europe/Rome');
/** Intl separates amounts and units by special spaces. */
const plain = (text: string): string => text.replaceAll(/[\u00a0\u2009\u202f]/g, ' ');

describe('money', () => {
  test('shows two decimals, and more if the amount has them', () => {
    expect(en.money(5_000_000, 'EUR')).toBe('€5.00');
    expect(en.money(474, 'EUR')).toBe('€0.000474');
    expect(en.money(-1_500_000, 'EUR')).toBe('-€1.50');
    expect(plain(it_.money(12_345_678_900, 'EUR'))).toBe('12.345,6789 €');
  });

  test('is exact beyond the precision of floating point', () => {
    expect(en.money(9_007_199_254_740_991, 'EUR')).toBe('€9,007,199,254.740991');
    expect(decimalOf(1)).toBe('0.000001');
    expect(decimalOf(-1_234_500)).toBe('-1.234500');
  });

  test('rounds to cents for people, and says when it is less than one', () => {
    expect(en.shortMoney(24_319_999, 'EUR')).toBe('€24.32');
    expect(en.shortMoney(9_999_962, 'EUR')).toBe('€10.00');
    expect(en.shortMoney(1_200_013, 'EUR')).toBe('€1.20');
    expect(en.shortMoney(9_999, 'EUR')).toBe('under €0.01');
    expect(plain(it_.shortMoney(156, 'EUR'))).toBe('meno di 0,01 €');
    expect(en.shortMoney(10_000, 'EUR')).toBe('€0.01');
    expect(en.shortMoney(0, 'EUR')).toBe('€0.00');
  });

  test.each([
    [38, '€0.000038'],
    [4, '€0.000004'],
    [474, '€0.00047'],
    [4_271, '€0.0043'],
    [9_999, '€0.01'],
    [12_400, '€0.012'],
    [124_000, '€0.12'],
    [1_200_013, '€1.20'],
    [-156, '-€0.00016'],
    [-1_500_000, '-€1.50'],
    [0, '€0.00'],
  ])('keeps two significant digits of %i micros for developers', (micros, text) => {
    expect(en.fineMoney(micros, 'EUR')).toBe(text);
  });
});

test('a money axis shows its round steps exactly, and thousands in short', () => {
  expect([0, 40, 2_000, 400_000, 1_500_000, 2_345_000_000].map((micros) => en.compactMoney(micros, 'EUR'))).toEqual([
    '€0',
    '€0.00004',
    '€0.002',
    '€0.40',
    '€1.50',
    '€2.35k',
  ]);
});

test('a range of days names their common part once', () => {
  expect(plain(en.shortRange(new Date('2026-11-03T12:00Z'), new Date('2026-11-09T12:00Z')))).toBe('3 – 9 Nov');
  expect(en.shortRange(new Date('2026-11-03T12:00Z'), new Date('2026-11-03T12:00Z'))).toBe('3 Nov');
});

describe('times', () => {
  const now = new Date('2026-11-20T12:00:00Z');

  test('are in the person’s time zone and language', () => {
    expect(en.dateTime('2026-11-20T23:30:00Z')).toBe('21 Nov 2026, 00:30');
    expect(it_.date('2026-11-20T23:30:00Z')).toBe('21 nov 2026');
  });

  test.each([
    ['2026-11-20T12:00:20Z', 'now'],
    ['2026-11-20T12:05:20Z', 'in 5 minutes'],
    ['2026-11-20T12:59:40Z', 'in 1 hour'],
    ['2026-11-27T11:00:00Z', 'in 7 days'],
    ['2026-11-19T23:30:00Z', '13 hours ago'],
    ['2026-11-20T09:00:00Z', '3 hours ago'],
    ['2026-11-21T12:00:00Z', 'tomorrow'],
    ['2026-11-27T12:00:00Z', 'in 7 days'],
    ['2026-12-20T12:00:00Z', 'in 1 month'],
    ['2026-09-15T12:00:00Z', '2 months ago'],
    ['2028-12-01T12:00:00Z', 'in 2 years'],
  ])('%s is %s', (at, text) => {
    expect(en.relative(at, now)).toBe(text);
  });

  test('are relative in Italian too', () => {
    expect(it_.relative('2026-11-23T13:00:00Z', now)).toBe('tra 3 giorni');
  });
});

describe('waiting and durations', () => {
  test('rounds a wait up, because an earlier retry would be refused', () => {
    expect(en.wait(30)).toBe('30 seconds');
    expect(en.wait(601)).toBe('11 minutes');
    expect(plain(it_.wait(120))).toBe('2 minuti');
  });

  test('chooses the unit of a duration', () => {
    expect(plain(en.duration(84))).toBe('84 ms');
    expect(plain(en.duration(1_840))).toBe('1.8 s');
    expect(plain(it_.duration(1_840))).toBe('1,8 s');
  });
});
