import { idPattern } from '@svc/contracts';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { captureLogs, type TestTokens, testClock, testTokens } from '../src/index.ts';

let tokens: TestTokens;
beforeAll(async () => {
  tokens = await testTokens({ publicBaseUrl: 'http://127.0.0.1:8080' });
});
afterAll(() => tokens.stop());

const verify = (token: string, audience: string, typ: string) =>
  jwtVerify(token, createRemoteJWKSet(new URL(tokens.jwksUrl)), {
    issuer: 'http://127.0.0.1:8080',
    audience,
    typ,
    algorithms: ['ES256'],
  });

test('RFC 9068: makes access tokens like the auth service', async () => {
  const token = await tokens.accessToken({ userId: 'usr_1', scope: 'inference' });
  const { payload } = await verify(token, 'http://127.0.0.1:8080/v1', 'at+jwt');
  expect(payload).toMatchObject({ sub: 'usr_1', scope: 'inference' });
  expect(payload['client_id']).toMatch(idPattern('app'));
  expect(payload['grant_id']).toMatch(idPattern('grt'));
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
});

test('makes console session tokens like the auth service', async () => {
  const token = await tokens.consoleSession({ accountType: 'business' });
  const { payload } = await verify(token, 'http://127.0.0.1:8080/v1/console', 'svc-session+jwt');
  expect(payload).toMatchObject({ account_type: 'business' });
  expect(payload['sid']).toMatch(idPattern('ses'));
  expect(payload.sub).toMatch(idPattern('usr'));
});

test('makes session tokens that act for an organization', async () => {
  const organization = { id: 'usr_1', membershipId: 'mem_1', role: 'developer', version: 3 } as const;
  const token = await tokens.consoleSession({ userId: 'usr_2', organization });
  const { payload } = await verify(token, 'http://127.0.0.1:8080/v1/console', 'svc-session+jwt');
  const org = { id: 'usr_1', membership: 'mem_1', role: 'developer', version: 3 };
  expect(payload).toMatchObject({ sub: 'usr_2', account_type: 'business', org });
});

test('makes invalid tokens of each kind', async () => {
  const asAccess = (token: string) => verify(token, 'http://127.0.0.1:8080/v1', 'at+jwt');
  await expect(asAccess(await tokens.accessToken({ expiresInSeconds: -60 }))).rejects.toThrow(/exp/);
  await expect(asAccess(await tokens.accessToken({ unknownKey: true }))).rejects.toThrow(/no applicable key/);
  await expect(asAccess(await tokens.accessToken({ claims: { aud: 'other' } }))).rejects.toThrow(/aud/);
  await expect(asAccess(await tokens.accessToken({ typ: 'JWT' }))).rejects.toThrow(/typ/);
  await expect(asAccess(await tokens.consoleSession())).rejects.toThrow();
});

test('rotates keys and keeps old tokens valid', async () => {
  const before = await tokens.accessToken();
  await tokens.rotate();
  const after = await tokens.accessToken();
  for (const token of [before, after]) await verify(token, 'http://127.0.0.1:8080/v1', 'at+jwt');
  expect(tokens.jwksRequests()).toBeGreaterThan(0);
});

test('the clock stands still until it is moved', () => {
  const clock = testClock('2026-10-01T00:00:00Z');
  const before = clock();
  clock.advanceMs(1500);
  expect(clock().getTime() - before.getTime()).toBe(1500);
  clock.set('2027-01-01T00:00:00Z');
  expect(clock().toISOString()).toBe('2027-01-01T00:00:00.000Z');
});

test('logs are captured with level, fields and the child’s fields', () => {
  const logs = captureLogs();
  logs.logger.info({ count: 1 }, 'one');
  logs.logger.child({ request_id: 'req_1' }).error({ err: new Error('inner') }, 'two');
  logs.logger.warn('three');
  expect(logs.entries).toMatchObject([
    { level: 'info', fields: { count: 1 }, message: 'one' },
    { level: 'error', fields: { request_id: 'req_1' }, message: 'two' },
    { level: 'warn', fields: {}, message: 'three' },
  ]);
  expect(logs.text()).toContain('inner');
});
