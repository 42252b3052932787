import { expect, test } from 'vitest';
import { type Facts, furthestPath, isFinished, stepsOf } from './paths.ts';

const nothing: Facts = {
  hasPlan: false,
  hasConnection: false,
  hasAnswer: false,
  hasApp: false,
  hasWebhook: false,
  hasEvent: false,
  isTried: false,
  isLive: false,
  hasMoney: false,
  hasKey: false,
  hasRequest: false,
};

test('the first undone step is the next one, in any position', () => {
  expect(stepsOf('person', nothing).map(({ state }) => state)).toEqual(['next', 'later', 'later']);
  expect(stepsOf('gateway', { ...nothing, hasKey: true })).toEqual([
    { id: 'topUp', state: 'next' },
    { id: 'key', state: 'done' },
    { id: 'request', state: 'later' },
  ]);
});

test('a path is finished when all its steps are done', () => {
  const all = { ...nothing, hasPlan: true, hasConnection: true };
  expect(isFinished('person', all)).toBe(false);
  expect(isFinished('person', { ...all, hasAnswer: true })).toBe(true);
});

test('opens the path with the most progress, or the first one', () => {
  expect(furthestPath(['person', 'gateway'], nothing)).toBe('person');
  expect(furthestPath(['person', 'gateway'], { ...nothing, hasMoney: true })).toBe('gateway');
  expect(furthestPath([], nothing)).toBeUndefined();
});
