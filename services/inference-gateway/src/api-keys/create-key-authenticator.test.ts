import { expect, test } from 'vitest';
import type { ApiKey } from './api-key.ts';
import { createKeyAuthenticator } from './create-key-authenticator.ts';
import { hashKey } from './hash-key.ts';
import { newKeyText } from './key-text.ts';

const PEPPER = 'pepper';
const KEY = { id: 'key_1', userId: 'usr_1', expiresAt: null, sessionId: null, active: true } as ApiKey;
const PRESENTATION = { scheme: 'Bearer', method: 'GET', path: '/', proof: undefined } as const;

test('keeps a known key in the cache during a flood of unknown keys', async () => {
  const real = newKeyText();
  const realHash = hashKey(PEPPER, real);
  let lookups = 0;
  const authenticate = createKeyAuthenticator({
    find: async (keyHash) => {
      if (!keyHash.equals(realHash)) return undefined;
      lookups += 1;
      return KEY;
    },
    pepper: PEPPER,
    revocations: { isRevoked: () => false, isSuperseded: () => false },
    onUse: () => {},
    clock: () => 0,
  });
  await authenticate(real, PRESENTATION);
  for (let count = 0; count < 30_000; count += 1) {
    await authenticate(newKeyText(), PRESENTATION).catch(() => {});
  }
  await authenticate(real, PRESENTATION);
  expect(lookups).toBe(1);
});
