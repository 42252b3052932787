import { openSecretKeys } from '@svc/secrets';
import { expect, test } from 'vitest';
import { type ApiKey, apiKeyText } from './api-key.ts';
import { createKeyAuthenticator, createKeyDigests } from './authenticate-keys.ts';

const digests = createKeyDigests(openSecretKeys('API_KEY_PEPPER', ['ab'.repeat(32)]));
const KEY = { id: 'key_1', userId: 'usr_1', expiresAt: null, sessionId: null, active: true } as ApiKey;
const PRESENTATION = { scheme: 'Bearer', method: 'GET', path: '/', proof: undefined } as const;

test('keeps a known key in the cache during a flood of unknown keys', { timeout: 30_000 }, async () => {
  const real = apiKeyText.generate();
  const realDigest = digests.of(real);
  let lookups = 0;
  const authenticate = createKeyAuthenticator({
    find: async ([candidate]) => {
      if (candidate?.equals(realDigest) !== true) return undefined;
      lookups += 1;
      return KEY;
    },
    digests,
    revocations: { refreshIfStale: () => undefined, isRevoked: () => false, isSuperseded: () => false },
    onUse: () => {},
    clock: () => 0,
  });
  await authenticate(real, PRESENTATION);
  for (let count = 0; count < 30_000; count += 1) {
    await authenticate(apiKeyText.generate(), PRESENTATION).catch(() => {});
  }
  await authenticate(real, PRESENTATION);
  expect(lookups).toBe(1);
});
