import { randomBytes } from 'node:crypto';
import { idOf, idTimeAt, keyVersionText, lostTokensText } from '@svc/contracts';
import { testClock } from '@svc/testing';
import { expect, test } from 'vitest';
import { createEntries } from './revocation-entries.ts';

const HOUR_MS = 3600 * 1000;
/** An id of any moment: newId never goes back in time within a process. */
const idAt = (prefix: 'grt' | 'ses', timeMs: number) => idOf(prefix, timeMs, randomBytes(16));
const through = (id: string) => JSON.stringify({ revoked_through: id });

test('an entry revokes the grant, session or key that it names, and no other', () => {
  const clock = testClock();
  const entries = createEntries(clock);
  const now = clock().getTime();
  for (const key of ['grant.grt_1', 'session.ses_1', 'key.key_1', 'management_key.mk_1']) entries.add(key, '{}', now);
  expect(entries.isRevoked({ grantId: 'grt_1' })).toBe(true);
  expect(entries.isRevoked({ sessionId: 'ses_1' })).toBe(true);
  expect(entries.isRevoked({ keyId: 'key_1' })).toBe(true);
  expect(entries.isRevoked({ managementKeyId: 'mk_1' })).toBe(true);
  expect(entries.isRevoked({ managementKeyId: 'mk_2' })).toBe(false);
  expect(entries.isRevoked({ grantId: 'grt_2', sessionId: 'ses_2', keyId: 'key_2', clientId: 'app_1' })).toBe(false);
  expect(entries.isRevoked({})).toBe(false);
});

test('a range of keys revokes keys of sessions up to its end and keys without a session', () => {
  const clock = testClock();
  const entries = createEntries(clock);
  entries.add('keys.usr_1', through('ses_5'), clock().getTime());
  const isRevoked = (userId: string, keySessionId: string | null) =>
    entries.isRevoked({ keyId: 'key_1', userId, keySessionId });
  expect([isRevoked('usr_1', 'ses_5'), isRevoked('usr_1', 'ses_4'), isRevoked('usr_1', null)]).toEqual([
    true,
    true,
    true,
  ]);
  expect([isRevoked('usr_1', 'ses_6'), isRevoked('usr_2', 'ses_5'), isRevoked('usr_2', null)]).toEqual([
    false,
    false,
    false,
  ]);
});

test('a range does not shrink if an earlier value arrives later', () => {
  const clock = testClock();
  const entries = createEntries(clock);
  const now = clock().getTime();
  entries.add('app.app_1', through('grt_5'), now);
  entries.add('app.app_1', through('grt_3'), now);
  expect(entries.isRevoked({ clientId: 'app_1', grantId: 'grt_5' })).toBe(true);
  expect(entries.isRevoked({ clientId: 'app_1', grantId: 'grt_6' })).toBe(false);
});

test('an entry lives for 13 hours, and a replay of an older one does not shorten that', () => {
  const clock = testClock();
  const entries = createEntries(clock);
  const start = clock().getTime();
  entries.add('grant.grt_1', '{}', start);
  entries.add('grant.grt_1', '{}', start - 5 * HOUR_MS);
  entries.add('grant.grt_old', '{}', start - 14 * HOUR_MS);
  expect(entries.expire()).toBe(1);
  clock.advanceMs(13 * HOUR_MS - 1);
  expect(entries.isRevoked({ grantId: 'grt_1' })).toBe(true);
  clock.advanceMs(1);
  expect(entries.isRevoked({ grantId: 'grt_1' })).toBe(false);
  expect(entries.expire()).toBe(0);
});

test('reports a copy of a key as superseded up to the announced version, and leaves the key alive', () => {
  const clock = testClock();
  const entries = createEntries(clock);
  entries.add('key_version.key_1', through(keyVersionText(9)), clock().getTime());
  expect(entries.isSuperseded({ keyId: 'key_1', version: 9 })).toBe(true);
  expect(entries.isSuperseded({ keyId: 'key_1', version: 10 })).toBe(false);
  expect(entries.isSuperseded({ keyId: 'key_2', version: 1 })).toBe(false);
  expect(entries.isRevoked({ keyId: 'key_1', userId: 'usr_1', keySessionId: null })).toBe(false);
});

test('marks a user as verified for the life of a token, and revokes nothing by that', () => {
  const clock = testClock();
  const entries = createEntries(clock);
  entries.add('verified.usr_1', '{}', clock().getTime());
  expect([entries.isVerified('usr_1'), entries.isVerified('usr_2')]).toEqual([true, false]);
  expect(entries.isRevoked({ userId: 'usr_1', sessionId: 'ses_1', keyId: 'key_1', keySessionId: null })).toBe(false);
  clock.advanceMs(13 * HOUR_MS);
  expect(entries.isVerified('usr_1')).toBe(false);
});

test('returns false and revokes nothing for an entry that breaks the contract', () => {
  const clock = testClock();
  const entries = createEntries(clock);
  const now = clock().getTime();
  expect(entries.add('app.app_1', 'not json', now)).toBe(false);
  expect(entries.add('account.usr_1', '{}', now)).toBe(false);
  expect(entries.add('other.x', '{}', now)).toBe(false);
  expect(entries.isRevoked({ clientId: 'app_1', grantId: 'grt_1', userId: 'usr_1', sessionId: 'ses_1' })).toBe(false);
});

test('a range of lost tokens revokes sessions and grants begun within it, for 13 hours', () => {
  const clock = testClock();
  const entries = createEntries(clock);
  const end = clock().getTime();
  const range = lostTokensText(idTimeAt(end - HOUR_MS), idTimeAt(end));
  const earlier = lostTokensText(idTimeAt(end - 9 * HOUR_MS), idTimeAt(end - 8 * HOUR_MS));
  for (const lost of [range, earlier]) entries.add(`lost.${lost}`, through(lost), end);
  const isRevoked = (ageMs: number) => [
    entries.isRevoked({ sessionId: idAt('ses', end - ageMs), userId: 'usr_1' }),
    entries.isRevoked({ grantId: idAt('grt', end - ageMs), clientId: 'app_1' }),
  ];
  expect(isRevoked(8.5 * HOUR_MS)).toEqual([true, true]);
  expect(isRevoked(2 * HOUR_MS)).toEqual([false, false]);
  expect(isRevoked(HOUR_MS / 2)).toEqual([true, true]);
  expect(isRevoked(-1)).toEqual([false, false]);
  expect(entries.isRevoked({ keyId: 'key_1', userId: 'usr_1', keySessionId: idAt('ses', end - 1) })).toBe(false);
  clock.advanceMs(13 * HOUR_MS);
  expect(isRevoked(HOUR_MS / 2)).toEqual([false, false]);
  expect(entries.expire()).toBe(0);
});
