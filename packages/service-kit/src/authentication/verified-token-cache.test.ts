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

test('evicts the least recently used token when full', () => {
  const { cache, add } = setup(4);
  for (const token of ['a', 'b', 'c']) add(token);
  expect(cache.get('a')).toBe('of a');
  add('d');
  expect(['d', 'a', 'b', 'c'].map((token) => cache.get(token))).toEqual(['of d', 'of a', undefined, 'of c']);
});

test('stays within its limit and keeps tokens in constant use', () => {
  const { cache, add } = setup(10);
  add('used');
  for (let i = 0; i < 100; i += 1) {
    add(`t${i}`);
    expect(cache.get('used')).toBe('of used');
    // The last use of each is older than half the capacity by then.
    if (i >= 10) expect(cache.get(`t${i - 10}`)).toBeUndefined();
  }
});

test('drops an entry when its token expires or its signing key is withdrawn', () => {
  const { state, cache, add } = setup(2);
  add('a');
  add('b');
  state.currentKeys.clear();
  expect(cache.get('a')).toBeUndefined();
  state.currentKeys.add('k');
  state.nowMs = 2_000;
  expect(cache.get('b')).toBeUndefined();
});
