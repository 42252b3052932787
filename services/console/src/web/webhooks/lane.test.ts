import { expect, test } from 'vitest';
import { headOf, isFailing, isWaiting, toneOfEvent } from './lane.ts';

const event = (sequence: number, status: 'queued' | 'delivering' | 'delivered' | 'failed', attempts = 0) => ({
  sequence,
  status,
  attempts,
  next_attempt_at: status === 'queued' && attempts > 0 ? '2026-11-27T12:00:00.000Z' : null,
});

test('finds the earliest event that later ones wait for', () => {
  expect(headOf([event(5, 'queued'), event(4, 'failed', 8), event(3, 'delivered', 1)])?.sequence).toBe(4);
  expect(headOf([event(5, 'queued'), event(4, 'queued', 3)])?.sequence).toBe(4);
  expect(headOf([event(3, 'delivered', 1)])).toBeUndefined();
});

test('tells an event that waits for its turn from one that the receiver refuses', () => {
  expect([isWaiting(event(5, 'queued')), isFailing(event(5, 'queued')), toneOfEvent(event(5, 'queued'))]).toEqual([
    true,
    false,
    'neutral',
  ]);
  const refused = event(4, 'queued', 3);
  expect([isWaiting(refused), isFailing(refused), toneOfEvent(refused)]).toEqual([false, true, 'warn']);
  expect(toneOfEvent(event(4, 'failed', 8))).toBe('bad');
});
