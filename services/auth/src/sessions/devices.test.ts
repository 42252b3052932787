import { createMacs, openSecretKeys } from '@svc/secrets';
import { expect, test } from 'vitest';
import type { AccountRecord } from '../accounts/index.ts';
import { createDevices, DEVICE_PROOF_BYTES } from './devices.ts';

const macsOf = (byte: string) => createMacs(openSecretKeys('KEY', [byte.repeat(32)]), 'devices', DEVICE_PROOF_BYTES);
const devices = createDevices(macsOf('11'));
const account = (id: string, sessionsRevokedThrough: string | null = null): AccountRecord => ({
  id,
  email: `${id}@example.com`,
  accountType: 'personal',
  businessName: null,
  displayName: null,
  locale: 'it',
  hasSecondFactor: false,
  emailVerifiedAt: null,
  firstSignedInAt: null,
  eraseAt: null,
  deletionVersion: 0,
  createdAt: new Date(0),
  sessionsRevokedThrough,
  distrustedSince: null,
  requiresSecondFactor: false,
});

test('recognizes a device for the accounts that it has signed in to, and keeps its id', () => {
  const first = devices.remember(undefined, account('usr_a'));
  const both = devices.remember(first, account('usr_b'));
  const id = devices.recognize(first, account('usr_a'));
  expect(id).toMatch(/^[\w-]{22}$/);
  expect(devices.recognize(both, account('usr_a'))).toBe(id);
  expect(devices.recognize(both, account('usr_b'))).toBe(id);
  expect(devices.recognize(first, account('usr_b'))).toBeUndefined();
});

test('gives each device a different id', () => {
  const tokens = [devices.remember(undefined, account('usr_a')), devices.remember(undefined, account('usr_a'))];
  const ids = tokens.map((token) => devices.recognize(token, account('usr_a')));
  expect(new Set(ids).size).toBe(2);
});

test('forgets every device of an account that was signed out everywhere', () => {
  const token = devices.remember(undefined, account('usr_a'));
  expect(devices.recognize(token, account('usr_a', 'ses_1'))).toBeUndefined();
});

test('does not recognize a token that is malformed, changed, moved to another id or signed with another key', () => {
  const token = devices.remember(undefined, account('usr_a'));
  const [id = '', proof = ''] = token.split('.');
  const [otherId = ''] = devices.remember(undefined, account('usr_a')).split('.');
  const foreign = createDevices(macsOf('22')).remember(undefined, account('usr_a'));
  for (const wrong of [undefined, '', id, `${otherId}.${proof}`, `${token}.`, `${token}x`, foreign, `${id}.${id}`]) {
    expect(devices.recognize(wrong, account('usr_a'))).toBeUndefined();
  }
});

test('remembers the latest eight accounts', () => {
  const accounts = Array.from({ length: 9 }, (_, index) => account(`usr_${index}`));
  const token = accounts.reduce<string | undefined>((kept, next) => devices.remember(kept, next), undefined);
  const known = accounts.map((each) => devices.recognize(token, each) !== undefined);
  expect(known).toEqual([false, ...Array.from({ length: 8 }, () => true)]);
});
