import { expect, test } from 'vitest';
import { attemptsOfRound } from './lane.ts';

test.each([
  ['queued', 0, 0],
  ['queued', 3, 3],
  ['failed', 8, 8],
  ['queued', 8, 0],
  ['delivering', 9, 1],
  ['delivered', 16, 8],
  ['delivered', 1, 1],
  ['skipped', 8, 8],
  ['cancelled', 0, 0],
] as const)('counts the attempts since the last retry: %s after %i in all', (status, attempts, count) => {
  expect(attemptsOfRound({ status, attempts })).toBe(count);
});
