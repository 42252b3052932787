import { expect, test } from 'vitest';
import { createVerifiedTokenCache } from './verified-token-cache.ts';

const setup = (entriesMax: number) => {
  const state = { nowMs: 1_000, currentKeys: new Set(['k']) };
  const cache = createVerifiedTokenCache<string>({
    entriesMax,
    clock: () => new Date(state.nowMs),
    isKeyCurrent: (keyId) => state.currentKeys.has(keyId),
  });
  const add = (token: string) => cache.set(token, { value: `of ${token}`, expiresAtMs: 2_000, keyId: 'k' });
  return { state, cache, add };
};

test('drops what was used least recently once it is full', () => {
  const { cache, add } = setup(2);
  add('a');
  add('b');
  expect(cache.get('a')).toBe('of a');
  add('c');
  expect(['a', 'b', 'c'].map((token) => cache.get(token))).toEqual(['of a', undefined, 'of c']);
});

test('an entry ends with its token, and with the key that signed it', () => {
  const { state, cache, add } = setup(2);
  add('a');
  add('b');
  state.currentKeys.clear();
  expect(cache.get('a')).toBeUndefined();
  state.currentKeys.add('k');
  state.nowMs = 2_000;
  expect(cache.get('b')).toBeUndefined();
});
