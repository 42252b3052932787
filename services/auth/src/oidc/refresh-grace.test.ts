import { expect, test } from 'vitest';
import { judgeRefreshUse } from './refresh-grace.ts';

const NOW = new Date('2026-10-01T12:00:00Z');
const usedSecondsAgo = (seconds: number) => new Date(NOW.getTime() - seconds * 1000);

test.each([
  ['never used', { consumedAt: null, isOutdated: false }, 30, 'first'],
  ['never used, though a sibling went on', { consumedAt: null, isOutdated: true }, 30, 'first'],
  ['just used', { consumedAt: usedSecondsAgo(0), isOutdated: false }, 30, 'within_grace'],
  ['used within the grace', { consumedAt: usedSecondsAgo(29.9), isOutdated: false }, 30, 'within_grace'],
  ['used as long ago as the grace is', { consumedAt: usedSecondsAgo(30), isOutdated: false }, 30, 'reuse'],
  ['used long ago', { consumedAt: usedSecondsAgo(3600), isOutdated: false }, 30, 'reuse'],
  ['no longer the immediate predecessor', { consumedAt: usedSecondsAgo(1), isOutdated: true }, 30, 'reuse'],
  ['just used by an app without grace', { consumedAt: usedSecondsAgo(0), isOutdated: false }, 0, 'reuse'],
])('%s', (_what, state, grace, use) => {
  expect(judgeRefreshUse(state, grace, NOW)).toBe(use);
});
