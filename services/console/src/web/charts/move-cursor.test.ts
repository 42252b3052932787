import { expect, test } from 'vitest';
import { moveCursor } from './chart-data.ts';

test.each([
  ['ArrowLeft', undefined, 29],
  ['Home', undefined, 0],
  ['ArrowLeft', 12, 11],
  ['ArrowRight', 12, 13],
  ['ArrowRight', 29, 29],
  ['PageUp', 3, 0],
  ['PageDown', 3, 10],
  ['End', 3, 29],
  ['Tab', 3, undefined],
])('%s on day %s of 30 moves to %s', (key, day, next) => {
  expect(moveCursor(key, day, 30)).toBe(next);
});
