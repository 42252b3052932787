import { describe, expect, test } from 'vitest';
import { ConnectError } from './connect/connect-error.ts';
import { ConnectionEndedError } from './connect/connector.ts';
import type { TokenSet } from './connect/token-request.ts';
import { createMemoryTokenStore, createUserTokens } from './user-tokens.ts';

const NOW = new Date('2026-10-01T12:00:00Z');
const USER = 'usr_1';

const tokensOf = (name: string, expiresInSeconds: number): TokenSet => ({
  svcUserId: USER,
  accessToken: `at_${name}`,
  refreshToken: `rt_${name}`,
  scope: 'inference',
  expiresAtMs: NOW.getTime() + expiresInSeconds * 1000,
});

const setUp = async (stored: TokenSet | undefined, refresh: (old: TokenSet) => Promise<TokenSet>) => {
  const store = createMemoryTokenStore();
  if (stored !== undefined) await store.save(stored);
  const refreshed: string[] = [];
  const connector = {
    refresh: (old: TokenSet) => {
      refreshed.push(old.refreshToken);
      return refresh(old);
    },
  };
  return { store, refreshed, userTokens: createUserTokens({ connector, store, clock: () => NOW }) };
};

const neverAsked = (): Promise<TokenSet> => Promise.reject(new Error('not to be refreshed'));

describe('accessToken', () => {
  test('returns a token that is not about to expire', async () => {
    const { userTokens } = await setUp(tokensOf('1', 61), neverAsked);
    expect(await userTokens.accessToken(USER)).toBe('at_1');
  });

  test('refreshes shortly before expiry, once for all concurrent callers', async () => {
    const { userTokens, refreshed, store } = await setUp(tokensOf('1', 60), async () => tokensOf('2', 3600));
    const given = await Promise.all(Array.from({ length: 50 }, () => userTokens.accessToken(USER)));
    expect(new Set(given)).toEqual(new Set(['at_2']));
    expect(refreshed).toEqual(['rt_1']);
    expect((await store.load(USER))?.tokens).toEqual(tokensOf('2', 3600));
  });

  test('refreshes a rejected token once, and keeps its replacement', async () => {
    const { userTokens, refreshed } = await setUp(tokensOf('1', 3600), async () => tokensOf('2', 3600));
    const given = await Promise.all(
      Array.from({ length: 10 }, () => userTokens.accessToken(USER, { rejected: 'at_1' })),
    );
    expect(new Set(given)).toEqual(new Set(['at_2']));
    expect(await userTokens.accessToken(USER, { rejected: 'at_1' })).toBe('at_2');
    expect(refreshed).toEqual(['rt_1']);
  });

  test('uses the tokens that another process has stored meanwhile, and drops its own', async () => {
    const { userTokens, store } = await setUp(tokensOf('1', 0), async () => {
      await store.save(tokensOf('other', 3600));
      return tokensOf('2', 3600);
    });
    expect(await userTokens.accessToken(USER)).toBe('at_other');
    expect((await store.load(USER))?.tokens.refreshToken).toBe('rt_other');
  });

  test('does not end the connection when its refresh loses to another process', async () => {
    const { userTokens, store } = await setUp(tokensOf('1', 0), async () => {
      await store.save(tokensOf('other', 3600));
      throw new ConnectionEndedError(USER);
    });
    expect(await userTokens.accessToken(USER)).toBe('at_other');
  });

  test('does not restore a user who was forgotten during the refresh', async () => {
    const { userTokens, store } = await setUp(tokensOf('1', 0), async () => {
      await store.remove(USER);
      return tokensOf('2', 3600);
    });
    await expect(userTokens.accessToken(USER)).rejects.toBeInstanceOf(ConnectionEndedError);
    expect(await store.load(USER)).toBeUndefined();
  });

  test('returns a token that is valid for a few more seconds while the service is unreachable', async () => {
    const { userTokens, refreshed } = await setUp(tokensOf('1', 5), async () => {
      throw new ConnectError('unavailable');
    });
    expect(await userTokens.accessToken(USER)).toBe('at_1');
    expect(refreshed).toEqual(['rt_1', 'rt_1', 'rt_1']);
  });

  test('fails when the service is unreachable and the token has expired, and keeps the stored tokens', async () => {
    const { userTokens, store } = await setUp(tokensOf('1', 0), async () => {
      throw new ConnectError('unavailable');
    });
    await expect(userTokens.accessToken(USER)).rejects.toMatchObject({ reason: 'unavailable' });
    expect(await store.load(USER)).toBeDefined();
  });

  test('throws ConnectionEndedError for a user who never connected', async () => {
    const { userTokens } = await setUp(undefined, neverAsked);
    await expect(userTokens.accessToken(USER)).rejects.toMatchObject({ svcUserId: USER });
  });

  test('tries again after a failure', async () => {
    let calls = 0;
    const { userTokens } = await setUp(tokensOf('1', 0), async () => {
      calls += 1;
      if (calls === 1) throw new ConnectError('misconfigured');
      return tokensOf('2', 3600);
    });
    await expect(userTokens.accessToken(USER)).rejects.toBeInstanceOf(ConnectError);
    expect(await userTokens.accessToken(USER)).toBe('at_2');
  });
});

describe('the memory store', () => {
  test('never reuses a version', async () => {
    const store = createMemoryTokenStore();
    await store.save(tokensOf('1', 0));
    const old = await store.load(USER);
    await store.remove(USER);
    await store.save(tokensOf('1', 0));
    expect(await store.compareAndSet(USER, old?.version ?? '', undefined)).toBe(false);
  });
});
