import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type BrowserApp,
  type BrowserAppOptions,
  ConnectionEndedError,
  createBrowserApp,
  type PageLike,
} from '../src/index.ts';
import { type StandInOAuth, startStandInOAuth } from './support/stand-in-oauth.ts';

const PAGE = 'https://partner.example/app';

let oauth: StandInOAuth;
/** Storage of the tab. It survives page loads. */
let storage: Map<string, string>;
/** Addresses that the page was sent to. */
let visited: string[];

beforeAll(async () => {
  oauth = await startStandInOAuth();
});
afterAll(() => oauth.stop());
beforeEach(() => {
  storage = new Map();
  visited = [];
  oauth.tokenRequests.length = 0;
  oauth.revoked.length = 0;
});

const openPage = (href: string): PageLike & { readonly location: { href: string } } => {
  const location = { href, assign: (url: string) => void visited.push(url) };
  return {
    location,
    history: {
      state: { of: 'the page' },
      replaceState: (_state, _unused, url) => Object.assign(location, { href: url }),
    },
    sessionStorage: {
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => void storage.set(key, value),
      removeItem: (key) => void storage.delete(key),
    },
  };
};

/** Loads the app anew, as a browser does at each visit: only the storage of the tab survives. */
const load = (href: string, more: Partial<BrowserAppOptions> = {}) => {
  const page = openPage(href);
  const app = createBrowserApp({ baseUrl: oauth.url, clientId: oauth.publicClientId, page, ...more });
  return { app, page };
};

/** Returns the address to which the service sends the browser back. */
const decide = (approved: boolean): string => oauth.decide(visited.at(-1) ?? '', approved);

const connect = async (): Promise<{ app: BrowserApp; page: PageLike }> => {
  await load(PAGE).app.connect();
  const loaded = load(decide(true));
  await loaded.app.completeConnect();
  return loaded;
};

describe('connecting from a page', () => {
  test('completes the consent flow with a verifier, without a secret, and with tokens in memory only', async () => {
    const budget = { limitMicros: 1_000_000, currency: 'EUR', period: 'week' } as const;
    await load(`${PAGE}?tab=2#top`).app.connect({ locale: 'it', budget });
    const asked = new URL(visited[0] ?? '').searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      redirect_uri: PAGE,
      locale: 'it',
      code_challenge_method: 'S256',
    });
    expect(asked.get('authorization_details')).toContain('inference_budget');

    const { app, page } = load(`${decide(true)}&tab=2#top`);
    expect(app.svcUserId).toBeUndefined();
    const [connection, again] = await Promise.all([app.completeConnect(), app.completeConnect()]);
    expect(connection).toEqual({ svcUserId: oauth.svcUserId, scope: 'inference usage:read' });
    expect(again).toBe(connection);
    expect(app.svcUserId).toBe(oauth.svcUserId);
    expect(page.location.href).toBe(`${PAGE}?tab=2#top`);
    const [form] = oauth.tokenRequests;
    expect(form?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
    expect(form?.has('client_secret')).toBe(false);
    expect(JSON.stringify([...storage])).not.toMatch(/at_|rt_|verifier/i);
  });

  test('does nothing on a page that is no answer, even with another code in its address', async () => {
    const { app, page } = load(`${PAGE}?code=voucher&state=NY`);
    expect(await app.completeConnect()).toBeUndefined();
    expect(page.location.href).toBe(`${PAGE}?code=voucher&state=NY`);
    await expect(app.client.usage()).rejects.toBeInstanceOf(ConnectionEndedError);
  });

  test('throws `denied` if the user declined, and `wrong_state` for an answer to another tab', async () => {
    await load(PAGE).app.connect();
    await expect(load(decide(false)).app.completeConnect()).rejects.toMatchObject({ reason: 'denied' });
    await load(PAGE).app.connect();
    const answer = decide(true);
    storage.clear();
    const { app, page } = load(answer);
    await expect(app.completeConnect()).rejects.toMatchObject({ reason: 'wrong_state' });
    expect(page.location.href).toBe(PAGE);
    expect(oauth.tokenRequests).toEqual([]);
  });
});

describe('after a reload', () => {
  test('a connected tab connects again without a page', async () => {
    await connect();
    const reloaded = load(PAGE);
    expect(await reloaded.app.completeConnect()).toBeUndefined();
    expect(await reloaded.app.resume()).toBe(true);
    expect(new URL(visited.at(-1) ?? '').searchParams.get('prompt')).toBe('none');
    const { app } = load(decide(true));
    expect(await app.completeConnect()).toMatchObject({ svcUserId: oauth.svcUserId });
  });

  test('a tab stays unconnected if the user has to consent again, and does not try twice', async () => {
    await connect();
    await load(PAGE).app.resume();
    const state = new URL(visited.at(-1) ?? '').searchParams.get('state') ?? '';
    const query = new URLSearchParams({ error: 'consent_required', state, iss: oauth.url });
    const { app } = load(`${PAGE}?${query}`);
    expect(await app.completeConnect()).toBeUndefined();
    expect(await app.resume()).toBe(false);
  });

  test('a tab that never connected, or has disconnected, does not connect', async () => {
    expect(await load(PAGE).app.resume()).toBe(false);
    const { app } = await connect();
    await app.disconnect();
    expect(oauth.revoked).toHaveLength(1);
    expect(app.svcUserId).toBeUndefined();
    expect(await load(PAGE).app.resume()).toBe(false);
    expect([...storage]).toEqual([]);
  });
});

test('a connection that ended is no longer named', async () => {
  oauth.expiresIn = 1;
  const { app } = await connect();
  oauth.expiresIn = 3600;
  oauth.disconnect();
  await expect(app.client.usage()).rejects.toBeInstanceOf(ConnectionEndedError);
  expect(app.svcUserId).toBeUndefined();
});

test('throws at once for a redirect URI that the page cannot have', () => {
  expect(() => load(PAGE, { redirectUri: `${PAGE}?a=1` })).toThrow(TypeError);
});
