import { expect, test } from 'vitest';
import { classifyFailure, gapDelayMs, retryDelayMs } from './handler.ts';

test('retries kinds limit, unavailable and internal, and no others', () => {
  const retriable = (kind: string) => classifyFailure(Object.assign(new Error('x'), { kind, code: 'a.b' })).retriable;
  expect(['limit', 'unavailable', 'internal'].map(retriable)).toEqual([true, true, true]);
  expect(['invalid', 'unauthenticated', 'forbidden', 'not_found', 'conflict'].map(retriable)).not.toContain(true);
});

test('retries an error without a kind, and never uses its text as the code', () => {
  expect(classifyFailure(new TypeError('quotes a prompt'))).toEqual({
    retriable: true,
    down: undefined,
    code: 'TypeError',
  });
  expect(classifyFailure('thrown text')).toMatchObject({ retriable: true, code: 'internal' });
});

test('recognizes a lost database connection', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(classifyFailure(refused)).toMatchObject({ retriable: true, down: 'database' });
});

test('delays grow up to a bound and vary by 20 %', () => {
  const middle = () => 0.5;
  expect([1, 2, 3, 4, 8, 50].map((n) => retryDelayMs(n, middle))).toEqual([250, 1000, 5000, 15_000, 300_000, 300_000]);
  expect(retryDelayMs(2, () => 0)).toBe(800);
  expect(retryDelayMs(2, () => 1)).toBe(1200);
});

test('waits for an earlier version longer than its retries take', () => {
  const sum = (delay: (n: number) => number, deliveries: number) =>
    Array.from({ length: deliveries }, (_, index) => delay(index + 1)).reduce((a, b) => a + b, 0);
  const failing = sum((n) => retryDelayMs(n, () => 1), 12);
  const waiting = sum((n) => gapDelayMs(n, () => 1), 12 + 20);
  expect(waiting).toBeGreaterThan(failing);
});
