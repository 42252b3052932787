import { expect, test } from 'vitest';
import { createTlsSessions } from './tls-sessions.ts';

const MINUTE_MS = 60_000;

test('a session serves only its destination, for five minutes', () => {
  let nowMs = 0;
  const sessions = createTlsSessions(() => nowMs);
  sessions.remember('a', Buffer.from('1'));
  nowMs = 4 * MINUTE_MS;
  expect([sessions.find('a')?.toString(), sessions.find('b')]).toEqual(['1', undefined]);
  nowMs = 5 * MINUTE_MS;
  expect(sessions.find('a')).toBeUndefined();
});

test('a session that resumes another one ends with it, so that the certificate is verified again', () => {
  let nowMs = 0;
  const sessions = createTlsSessions(() => nowMs);
  sessions.remember('a', Buffer.from('1'));
  nowMs = 4 * MINUTE_MS;
  sessions.remember('a', Buffer.from('2'));
  expect(sessions.find('a')?.toString()).toBe('2');
  nowMs = 5 * MINUTE_MS;
  expect(sessions.find('a')).toBeUndefined();
  sessions.remember('a', Buffer.from('3'));
  nowMs = 9 * MINUTE_MS;
  expect(sessions.find('a')?.toString()).toBe('3');
});

test('the number of sessions is limited, and the oldest is dropped first', () => {
  const sessions = createTlsSessions(() => 0);
  for (let index = 0; index <= 1_000; index += 1) sessions.remember(String(index), Buffer.from('x'));
  expect([sessions.find('0'), sessions.find('1')?.toString()]).toEqual([undefined, 'x']);
});
