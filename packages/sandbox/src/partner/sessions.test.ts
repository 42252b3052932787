import { randomUUID } from 'node:crypto';
import { testClock } from '@svc/testing';
import { describe, expect, test } from 'vitest';
import { createSessionStore } from './sessions.ts';

const HOUR_MS = 3_600_000;

describe('the session store', () => {
  test('finds a session by its id until it is removed or idle for twelve hours', () => {
    const clock = testClock();
    const sessions = createSessionStore({ newId: randomUUID, clock });
    const one = sessions.create();
    const other = sessions.create();
    one.session.svcUserId = 'usr_1';
    clock.advanceMs(11 * HOUR_MS);
    expect(sessions.find(one.id)?.svcUserId).toBe('usr_1');
    clock.advanceMs(11 * HOUR_MS);
    expect(sessions.find(one.id)?.svcUserId).toBe('usr_1');
    expect(sessions.find(other.id)).toBeUndefined();
    sessions.remove(one.id);
    expect(sessions.find(one.id)).toBeUndefined();
    expect(sessions.find(undefined)).toBeUndefined();
  });

  test('evicts the least recently used session above the limit', () => {
    const sessions = createSessionStore({ newId: randomUUID, clock: () => new Date() });
    const first = sessions.create();
    const second = sessions.create();
    for (let more = 0; more < 998; more += 1) sessions.create();
    sessions.find(first.id);
    sessions.create();
    expect(sessions.find(first.id)).toBeDefined();
    expect(sessions.find(second.id)).toBeUndefined();
  });
});
