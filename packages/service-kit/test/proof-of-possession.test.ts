import { hash } from 'node:crypto';
import { routes } from '@svc/contracts';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createPossessionCheck } from '../src/authentication/proof-of-possession.ts';
import { bind, createMetrics, createServiceApp, createTokenAuthenticators } from '../src/index.ts';
import { collectLogs, serve } from './support/test-app.ts';
import { startIssuer } from './support/token-issuer.ts';

const newKey = async (algorithm = 'ES256') => {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(pair.publicKey);
  return { ...pair, algorithm, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
};
type Key = Awaited<ReturnType<typeof newKey>>;
const athOf = (token: string): string => hash('sha256', token, 'base64url');

const PATH = '/v1/integrations/usage';
const BASE = 'http://svc.test';

interface Bend {
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
  readonly signedBy?: Key;
}

const prove = (key: Key, token: string, { claims = {}, header = {}, signedBy = key }: Bend = {}): Promise<string> => {
  const all = { htm: 'GET', htu: `${BASE}${PATH}`, ath: athOf(token), jti: crypto.randomUUID(), ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const jwt = new SignJWT(given).setProtectedHeader({ alg: key.algorithm, typ: 'dpop+jwt', jwk: key.jwk, ...header });
  if (!('iat' in claims)) jwt.setIssuedAt();
  return jwt.sign(signedBy.privateKey);
};

/** Starts a service with the usage route on a real socket. */
const startService = async () => {
  const issuer = await startIssuer();
  const { logger } = collectLogs();
  const authenticate = createTokenAuthenticators({
    publicBaseUrl: issuer.issuer,
    jwksUrl: issuer.jwksUrl,
    revocations: { refreshIfStale: () => undefined, isRevoked: () => false },
    auth: { call: () => Promise.reject(new Error('unused')) },
  });
  const app = createServiceApp({
    service: 'billing',
    bindings: [bind(routes.getIntegrationUsage, async () => ({ status: 200, body: {} }))],
    authenticate,
    logger,
    metrics: createMetrics('billing'),
    publicBaseUrl: issuer.issuer,
  });
  const { url } = await serve(app);
  const get = (headers: Record<string, string>, search = '') => fetch(`${url}${PATH}${search}`, { headers });
  const bound = (key: Key) => issuer.sign('access', { claims: { cnf: { jkt: key.thumbprint } } });
  return { issuer, get, bound };
};

describe('a token that is bound to a key', () => {
  test('RFC 9449 §7.1: is accepted with a proof by its key that omits the query', async () => {
    const { get, bound } = await startService();
    for (const algorithm of ['ES256', 'Ed25519']) {
      const key = await newKey(algorithm);
      const token = await bound(key);
      const dpop = await prove(key, token);
      const answer = await get({ authorization: `DPoP ${token}`, dpop }, '?x=1');
      expect(answer.status).toBe(200);
    }
  });

  test('RFC 9449 §7.1: is refused as a bearer token, with or without a proof', async () => {
    const { get, bound } = await startService();
    const key = await newKey();
    const token = await bound(key);
    const headers = [{}, { dpop: await prove(key, token) }];
    for (const more of headers) {
      const answer = await get({ authorization: `Bearer ${token}`, ...more });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_token", algs="ES256/);
      expect(await answer.json()).toMatchObject({ detail: { code: 'invalid_token' } });
    }
  });

  test('RFC 9449 §7.1: without the scope is challenged in its scheme', async () => {
    const { issuer, get } = await startService();
    const key = await newKey();
    const token = await issuer.sign('access', { claims: { cnf: { jkt: key.thumbprint }, scope: 'inference' } });
    const answer = await get({ authorization: `DPoP ${token}`, dpop: await prove(key, token) });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^DPoP error="insufficient_scope", scope="usage:read", algs="ES256 [^"]+", resource_metadata=/,
    );
  });

  test('RFC 9449 §11.1: is refused when a proof is replayed', async () => {
    const { get, bound } = await startService();
    const key = await newKey();
    const token = await bound(key);
    const headers = { authorization: `DPoP ${token}`, dpop: await prove(key, token) };
    const statuses = await Promise.all([get(headers), get(headers), get(headers)]);
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  const bent: [string, (key: Key, other: Key) => Bend | Promise<Bend>][] = [
    ['another method', () => ({ claims: { htm: 'POST' } })],
    ['another path', () => ({ claims: { htu: `${BASE}/v1/other` } })],
    ['another host', () => ({ claims: { htu: `http://evil.test${PATH}` } })],
    ['no address', () => ({ claims: { htu: 'nonsense' } })],
    ['another token', () => ({ claims: { ath: athOf('other') } })],
    ['no token', () => ({ claims: { ath: undefined } })],
    ['no id', () => ({ claims: { jti: undefined } })],
    ['an old timestamp', () => ({ claims: { iat: Math.floor(Date.now() / 1000) - 62 } })],
    ['a timestamp in the future', () => ({ claims: { iat: Math.floor(Date.now() / 1000) + 63 } })],
    ['no time', () => ({ claims: { iat: undefined } })],
    ['another type', () => ({ header: { typ: 'JWT' } })],
    ["another key's signature", (_key, other) => ({ signedBy: other })],
    ['another key', (_key, other) => ({ header: { jwk: other.jwk }, signedBy: other })],
    ['no key', () => ({ header: { jwk: undefined } })],
    ['its private key', async (key) => ({ header: { jwk: await exportJWK(key.privateKey) } })],
    ['an invalid key', () => ({ header: { jwk: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' } satisfies JWK } })],
  ];
  test.each(bent)('RFC 9449 §4.3: refuses a proof with %s', async (_what, bend) => {
    const { get, bound } = await startService();
    const key = await newKey();
    const other = await newKey();
    const token = await bound(key);
    const dpop = await prove(key, token, await bend(key, other));
    const answer = await get({ authorization: `DPoP ${token}`, dpop });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_dpop_proof"');
    expect(await answer.json()).toEqual({
      detail: { code: 'invalid_token', message: expect.stringMatching(/^The DPoP proof is missing or used/) },
    });
  });

  test.each(['', 'nonsense', 'a.b.c', 'x'.repeat(5_000)])('refuses %s as a proof', async (dpop) => {
    const { get, bound } = await startService();
    const token = await bound(await newKey());
    expect((await get({ authorization: `DPoP ${token}`, dpop })).status).toBe(401);
  });

  test('is refused if it is bound by an unknown method', async () => {
    const { issuer, get } = await startService();
    const token = await issuer.sign('access', { claims: { cnf: { 'x5t#S256': 'x' } } });
    expect((await get({ authorization: `Bearer ${token}` })).status).toBe(401);
  });
});

test('RFC 9449 §7.1: refuses an unbound token with the DPoP scheme', async () => {
  const { issuer, get } = await startService();
  const key = await newKey();
  const token = await issuer.sign('access');
  const dpop = await prove(key, token);
  expect((await get({ authorization: `DPoP ${token}`, dpop })).status).toBe(401);
  expect((await get({ authorization: `Bearer ${token}` })).status).toBe(200);
});

test('bounds the remembered proofs and forgets expired ones', async () => {
  const clock = { now: new Date() };
  const check = createPossessionCheck({ publicBaseUrl: BASE, clock: () => clock.now, rememberedMax: 2 });
  const key = await newKey();
  const present = (proof: string) =>
    check({
      token: 't',
      keyThumbprint: key.thumbprint,
      presentation: { scheme: 'DPoP', method: 'GET', path: PATH, proof },
    });
  const proofs = await Promise.all([prove(key, 't'), prove(key, 't'), prove(key, 't')]);
  for (const proof of proofs) await present(proof);
  await expect(present(proofs[2])).rejects.toMatchObject({ code: 'invalid_token' });
  clock.now = new Date(clock.now.getTime() + 121_000);
  await expect(present(proofs[2])).rejects.toMatchObject({ code: 'invalid_token' });
});
