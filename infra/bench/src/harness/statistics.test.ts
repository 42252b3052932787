import { describe, expect, test } from 'vitest';
import { median, quantile, readable, summarize } from './statistics.ts';

const oneToHundred = Array.from({ length: 100 }, (_, index) => index + 1);

describe('quantile', () => {
  test('returns values of the series by nearest rank', () => {
    expect([0, 0.01, 0.5, 0.99, 1].map((share) => quantile(oneToHundred, share))).toEqual([1, 1, 50, 99, 100]);
  });

  test('returns the only value', () => {
    expect([0, 0.5, 1].map((share) => quantile([7], share))).toEqual([7, 7, 7]);
  });

  test('returns NaN for an empty series', () => {
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe('summarize', () => {
  test('sorts numerically without changing the series', () => {
    const series = [100, 9, 20];
    expect(summarize(series)).toEqual({ count: 3, p50: 20, p99: 100, max: 100 });
    expect(series).toEqual([100, 9, 20]);
  });
});

describe('median', () => {
  test('ignores one outlier', () => {
    expect(median([10, 11, 900])).toBe(11);
  });
});

describe('readable', () => {
  test('keeps three digits', () => {
    expect([1234.5, 99.44, 0.12345, Number.NaN].map(readable)).toEqual(['1235', '99.4', '0.123', '-']);
  });
});
