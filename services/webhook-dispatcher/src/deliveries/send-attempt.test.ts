import { describe, expect, test } from 'vitest';
import { parseRetryAfter, retryDelayMs } from './send-attempt.ts';

const schedule = (random: number) => ({ baseMs: 5_000, random: () => random });

describe('the retry schedule', () => {
  test('has steps of 5 s · 4^n between eight attempts', () => {
    const steps = [1, 2, 3, 4, 5, 6, 7].map((attempt) => retryDelayMs(attempt, undefined, schedule(0.5)));
    expect(steps).toEqual([5_000, 20_000, 80_000, 320_000, 1_280_000, 5_120_000, 20_480_000]);
  });

  test('spreads each step by 20 % either way', () => {
    expect(retryDelayMs(1, undefined, schedule(0))).toBe(4_000);
    expect(retryDelayMs(1, undefined, schedule(0.999_999))).toBe(6_000);
  });

  test('waits as long as the receiver asks, up to the length of the following step', () => {
    expect(retryDelayMs(1, 12_000, schedule(0.5))).toBe(12_000);
    expect(retryDelayMs(1, 3_600_000, schedule(0.5))).toBe(20_000);
    expect(retryDelayMs(1, 1_000, schedule(0.5))).toBe(5_000);
  });
});

describe('RFC 9110 §10.2.3: Retry-After', () => {
  const now = new Date('2026-10-01T12:00:00Z');

  test.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 01 Oct 2026 12:00:30 GMT', 30_000],
    ['Thu, 01 Oct 2026 11:00:00 GMT', 0],
  ])('accepts %j', (text, expected) => expect(parseRetryAfter(text, now)).toBe(expected));

  test.each([undefined, '', '-5', '1.5', 'soon', '99999999999999', '2026-10-01'])('ignores %j', (text) =>
    expect(parseRetryAfter(text, now)).toBeUndefined(),
  );
});
