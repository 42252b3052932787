import type { FoundManagementKey } from '@svc/contracts';
import { decodeJwt, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import {
  createTokenAuthenticators,
  digestManagementKey,
  type InternalClient,
  managementKeyText,
  type RevocationQuery,
} from '../src/index.ts';
import { collectLogs } from './support/test-app.ts';
import { startIssuer, type TokenOptions } from './support/token-issuer.ts';

const FOUND: FoundManagementKey = {
  id: 'mk_1',
  svc_user_id: 'usr_1',
  created_by: 'usr_1',
  session_id: 'ses_1',
  account_type: 'business',
  is_email_unverified: false,
  scopes: ['apps:read'],
  expires_at: null,
};

const setup = async () => {
  const issuer = await startIssuer();
  const revoked = new Set<string>();
  const asked: RevocationQuery[] = [];
  const verified = new Set<string>();
  const stale: { refresh?: (query: RevocationQuery) => Promise<void>; isAuthAway?: boolean } = {};
  const clock = { now: new Date() };
  const managementKeys = new Map<string, FoundManagementKey>();
  const lookUps: string[][] = [];
  const { logger, lines } = collectLogs();
  const authenticators = createTokenAuthenticators({
    publicBaseUrl: issuer.issuer,
    jwksUrl: issuer.jwksUrl,
    logger,
    clock: () => clock.now,
    auth: {
      // Answers the only route that is called.
      call: (async (_route: unknown, { body }: { body: { digests: string[] } }) => {
        lookUps.push(body.digests);
        if (stale.isAuthAway === true) throw new Error('away');
        return { body: { data: body.digests.map((digest) => managementKeys.get(digest) ?? null) } };
      }) as unknown as InternalClient['call'],
    },
    revocations: {
      refreshIfStale: (query) => stale.refresh?.(query),
      isRevoked: (query) => {
        asked.push(query);
        return Object.values(query).some((id) => revoked.has(id));
      },
      isVerified: (userId) => verified.has(userId),
    },
  });
  const advance = (ms: number) => {
    clock.now = new Date(clock.now.getTime() + ms);
  };
  const newManagementKey = (over: Partial<FoundManagementKey> = {}): string => {
    const text = managementKeyText.generate();
    managementKeys.set(digestManagementKey(text).toString('hex'), { ...FOUND, ...over });
    return text;
  };
  return {
    issuer,
    revoked,
    verified,
    asked,
    stale,
    clock,
    advance,
    lines,
    lookUps,
    newManagementKey,
    ...authenticators,
  };
};

const refused = expect.objectContaining({ code: 'invalid_token', status: 401 });
const unavailable = expect.objectContaining({ code: 'service_unavailable', status: 503 });

test('returns the caller of a valid token of each kind', async () => {
  const { issuer, console_session, oauth_access_token, asked } = await setup();
  expect(await console_session(await issuer.sign('session'))).toMatchObject({
    kind: 'console_session',
    userId: 'usr_1',
    sessionId: 'ses_1',
    accountType: 'business',
  });
  const caller = await oauth_access_token(await issuer.sign('access'));
  expect(caller).toMatchObject({
    kind: 'oauth_access_token',
    userId: 'usr_1',
    clientId: 'app_1',
    grantId: 'grt_1',
    tokenId: 'at_1',
  });
  expect([...caller.scopes]).toEqual(['inference', 'usage:read']);
  expect(asked).toEqual([
    { sessionId: 'ses_1', userId: 'usr_1' },
    { grantId: 'grt_1', clientId: 'app_1' },
  ]);
  expect(issuer.state.requests).toBe(1);
});

test('takes the time of authentication from auth_time, and from iat where a token has none', async () => {
  const { issuer, console_session } = await setup();
  const token = await issuer.sign('session', { claims: { auth_time: 1_700_000_000 } });
  expect(await console_session(token)).toMatchObject({ authenticatedAt: new Date(1_700_000_000_000) });
  const timeless = await issuer.sign('session');
  const { iat = 0 } = decodeJwt(timeless);
  expect(await console_session(timeless)).toMatchObject({ authenticatedAt: new Date(iat * 1000) });
});

test('reads that an address is not confirmed from the token, unless it was confirmed since', async () => {
  const { issuer, verified, console_session } = await setup();
  const token = await issuer.sign('session', { claims: { email_unverified: true } });
  expect(await console_session(token)).toMatchObject({ isEmailUnverified: true });
  verified.add('usr_1');
  expect(await console_session(token)).toMatchObject({ isEmailUnverified: false });
  expect(await console_session(await issuer.sign('session'))).toMatchObject({ isEmailUnverified: false });
});

test('accepts EdDSA and ES256', async () => {
  const { issuer, oauth_access_token } = await setup();
  await issuer.addKey('ed-1', 'EdDSA');
  expect((await oauth_access_token(await issuer.sign('access', { keyId: 'ed-1', algorithm: 'EdDSA' }))).userId).toBe(
    'usr_1',
  );
});

const bent: [string, TokenOptions][] = [
  ['RFC 9068 §4: another typ', { type: 'JWT' }],
  ['the typ of the other kind', { type: 'svc-session+jwt' }],
  ['RFC 7519 §4.1.1: another issuer', { issuer: 'http://other.test' }],
  ['RFC 7519 §4.1.3: the audience of the other kind', { audience: 'http://svc.test/v1/console' }],
  ['another audience', { audience: 'http://other.test/v1' }],
  ['RFC 7519 §4.1.4: expired', { expiresAt: new Date(Date.now() - 1_000) }],
  ['without grant_id', { claims: { grant_id: undefined } }],
  ['without client_id', { claims: { client_id: undefined } }],
  ['without sub', { claims: { sub: undefined } }],
  ['with a scope that is not a string', { claims: { scope: ['inference'] } }],
  ['not valid yet', { claims: { nbf: Math.floor(Date.now() / 1000) + 600 } }],
];

test.each(bent)('refuses an access token: %s', async (_name, options) => {
  const { issuer, oauth_access_token } = await setup();
  await expect(oauth_access_token(await issuer.sign('access', options))).rejects.toEqual(refused);
});

test('refuses each kind of token in place of the other', async () => {
  const { issuer, console_session, oauth_access_token } = await setup();
  await expect(console_session(await issuer.sign('access'))).rejects.toEqual(refused);
  await expect(oauth_access_token(await issuer.sign('session'))).rejects.toEqual(refused);
});

test('refuses malformed tokens, unsigned tokens, HMAC with a public key, and a changed payload', async () => {
  const { issuer, oauth_access_token } = await setup();
  const good = await issuer.sign('access');
  const [header, payload, signature] = good.split('.');
  const unsigned = new UnsecuredJWT({ sub: 'usr_1' }).setIssuer(issuer.issuer).setExpirationTime('1h').encode();
  const symmetric = await new SignJWT({ sub: 'usr_1' })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: 'key-1' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(JSON.stringify(issuer.keys.get('key-1')?.jwk)));
  const changed = Buffer.from(String(Buffer.from(payload ?? '', 'base64url')).replace('usr_1', 'usr_2')).toString(
    'base64url',
  );
  for (const token of [
    'x',
    'a.b.c',
    '..',
    unsigned,
    symmetric,
    `${header}.${changed}.${signature}`,
    `${header}.${payload}.`,
  ]) {
    await expect(oauth_access_token(token)).rejects.toEqual(refused);
  }
  const rsa = await generateKeyPair('RS256');
  const foreign = await new SignJWT({ sub: 'usr_1' })
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'key-1' })
    .sign(rsa.privateKey);
  await expect(oauth_access_token(foreign)).rejects.toEqual(refused);
});

test('checks expiry and revocation on every use, also of a cached token', async () => {
  const { issuer, oauth_access_token, console_session, revoked, advance } = await setup();
  const access = await issuer.sign('access');
  const session = await issuer.sign('session');
  await oauth_access_token(access);
  await console_session(session);
  revoked.add('grt_1');
  await expect(oauth_access_token(access)).rejects.toEqual(refused);
  expect((await console_session(session)).sessionId).toBe('ses_1');
  revoked.add('ses_1');
  await expect(console_session(session)).rejects.toEqual(refused);
  revoked.clear();
  expect((await oauth_access_token(access)).grantId).toBe('grt_1');
  advance(3_601_000);
  await expect(oauth_access_token(access)).rejects.toEqual(refused);
});

test('fetches a new key but limits the fetches caused by unknown keys', async () => {
  const { issuer, oauth_access_token, advance } = await setup();
  await oauth_access_token(await issuer.sign('access'));
  await issuer.addKey('key-2');
  advance(6_000);
  expect((await oauth_access_token(await issuer.sign('access', { keyId: 'key-2' }))).userId).toBe('usr_1');
  expect(issuer.state.requests).toBe(2);
  const strangers = await Promise.all(
    ['x1', 'x2', 'x3'].map(async (keyId) => {
      await issuer.addKey(keyId);
      const token = await issuer.sign('access', { keyId });
      issuer.keys.delete(keyId);
      return token;
    }),
  );
  for (const token of strangers) await expect(oauth_access_token(token)).rejects.toEqual(refused);
  expect(issuer.state.requests).toBe(2);
  advance(6_000);
  await Promise.all(strangers.map((token) => expect(oauth_access_token(token)).rejects.toEqual(refused)));
  expect(issuer.state.requests).toBe(3);
});

test('refuses tokens of a withdrawn key', async () => {
  const { issuer, oauth_access_token, advance } = await setup();
  await issuer.addKey('key-2');
  const token = await issuer.sign('access', { keyId: 'key-2' });
  await oauth_access_token(token);
  issuer.keys.delete('key-2');
  advance(11 * 60_000);
  await oauth_access_token(await issuer.sign('access', { claims: { jti: 'at_2' } }));
  await expect
    .poll(() =>
      oauth_access_token(token).then(
        () => 'taken',
        () => 'refused',
      ),
    )
    .toBe('refused');
});

test('returns 503 until the first key set is fetched', async () => {
  const { issuer, oauth_access_token, advance, lines } = await setup();
  const token = await issuer.sign('access');
  for (const mode of ['down', 'garbage'] as const) {
    issuer.state.mode = mode;
    await expect(oauth_access_token(token)).rejects.toEqual(unavailable);
    advance(6_000);
  }
  expect(lines).toHaveLength(2);
  issuer.state.mode = 'ok';
  expect((await oauth_access_token(token)).userId).toBe('usr_1');
});

test('verifies known keys while the issuer is down and returns 503 for unknown ones', async () => {
  const { issuer, oauth_access_token, advance } = await setup();
  await oauth_access_token(await issuer.sign('access'));
  issuer.state.mode = 'down';
  await issuer.addKey('key-2');
  advance(11 * 60_000);
  expect((await oauth_access_token(await issuer.sign('access', { claims: { jti: 'at_2' } }))).tokenId).toBe('at_2');
  await expect(oauth_access_token(await issuer.sign('access', { keyId: 'key-2' }))).rejects.toEqual(unavailable);
});

test('fetches the key set once for concurrent callers', async () => {
  const { issuer, oauth_access_token } = await setup();
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, index) => issuer.sign('access', { claims: { jti: `at_${index}` } })),
  );
  await Promise.all(tokens.map((token) => oauth_access_token(token)));
  expect(issuer.state.requests).toBe(1);
});

test('asks about a credential before it is accepted while the view of revocations is stale', async () => {
  const { issuer, revoked, stale, console_session, oauth_access_token } = await setup();
  const [session, access] = await Promise.all([issuer.sign('session'), issuer.sign('access')]);
  const queries: RevocationQuery[] = [];
  stale.refresh = async (query) => {
    await new Promise(setImmediate);
    queries.push(query);
    for (const id of Object.values(query)) revoked.add(String(id));
  };
  await expect(console_session(session)).rejects.toEqual(refused);
  await expect(oauth_access_token(access)).rejects.toEqual(refused);
  expect(queries).toEqual([
    { sessionId: 'ses_1', userId: 'usr_1' },
    { grantId: 'grt_1', clientId: 'app_1' },
  ]);
});

test('accepts a management key in place of a session, and asks auth about it once a minute', async () => {
  const { console_session, newManagementKey, lookUps, asked, advance } = await setup();
  const text = newManagementKey();
  const caller = await console_session(text);
  expect(caller).toMatchObject({ kind: 'management_key', keyId: 'mk_1', userId: 'usr_1', accountType: 'business' });
  await console_session(text);
  expect(lookUps).toEqual([[digestManagementKey(text).toString('hex')]]);
  expect(asked[0]).toEqual({ managementKeyId: 'mk_1', userId: 'usr_1', keySessionId: 'ses_1' });
  advance(61_000);
  await console_session(text);
  expect(lookUps).toHaveLength(2);
});

test('rejects a management key that is unknown, mistyped, expired or revoked, and none for what it is if auth is away', async () => {
  const { console_session, newManagementKey, lookUps, revoked, stale, clock, advance } = await setup();
  await expect(console_session(managementKeyText.generate())).rejects.toThrow(refused);
  const text = newManagementKey();
  await expect(console_session(`${text}0`)).rejects.toThrow(refused);
  expect(lookUps).toHaveLength(1);
  await console_session(text);
  revoked.add('mk_1');
  await expect(console_session(text)).rejects.toThrow(refused);
  revoked.clear();
  const short = newManagementKey({ expires_at: new Date(clock.now.getTime() + 10_000).toISOString() });
  await console_session(short);
  advance(10_000);
  await expect(console_session(short)).rejects.toThrow(refused);
  stale.isAuthAway = true;
  await console_session(text);
  await expect(console_session(newManagementKey())).rejects.toThrow(unavailable);
});
