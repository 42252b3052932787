import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call } from './support/http.ts';

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

const ORIGIN = { origin: 'https://app.example' };

test.each([
  ['POST', '/v1/integrations/oauth/token', 422],
  ['POST', '/v1/integrations/oauth/par', 400],
  ['POST', '/v1/integrations/oauth/revoke', 400],
  ['GET', '/v1/integrations/oauth/jwks', 200],
  ['GET', '/.well-known/openid-configuration', 200],
  ['GET', '/.well-known/oauth-authorization-server', 200],
  ['GET', '/.well-known/oauth-protected-resource/v1/integrations', 200],
])('pages of any origin may read the response of %s %s, including errors', async (method, path, status) => {
  const form = method === 'POST' ? { form: { token: 'x' } } : {};
  const { headers, ...answer } = await call(`${service.url}${path}`, { method, headers: ORIGIN, ...form });
  expect(answer.status).toBe(status);
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-expose-headers')).toBe('X-Request-Id, Retry-After, WWW-Authenticate');
  expect(headers.get('access-control-allow-credentials')).toBeNull();
});

test.each(['token', 'revoke', 'par'])('lets browsers cache a preflight for %s for a day', async (path) => {
  const { status, headers } = await call(`${service.url}/v1/integrations/oauth/${path}`, {
    method: 'OPTIONS',
    headers: { ...ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': 'dpop' },
  });
  expect(status).toBe(204);
  expect(Object.fromEntries(headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'authorization, content-type, idempotency-key, dpop, x-svc-provenance',
    'access-control-max-age': '86400',
  });
});

test.each(['token', 'revoke', 'par'])('OPTIONS %s without a preflight lists the methods', async (path) => {
  const answer = await call(`${service.url}/v1/integrations/oauth/${path}`, { method: 'OPTIONS' });
  expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
  expect(answer.headers.get('access-control-max-age')).toBeNull();
});

test.each(['authorize', 'consent', 'interaction/decision'])('does not allow other origins to call %s', async (path) => {
  const { headers } = await call(`${service.url}/v1/integrations/oauth/${path}`, {
    method: 'OPTIONS',
    headers: { ...ORIGIN, 'access-control-request-method': 'POST' },
  });
  expect(headers.get('access-control-allow-origin')).toBeNull();
});

test('RFC 9728 §3.2: the metadata name the protected resource and its authorization server', async () => {
  const answer = await call(`${service.url}/.well-known/oauth-protected-resource/v1/integrations`);
  expect(answer.body).toMatchObject({
    resource: `${service.url}/v1/integrations`,
    authorization_servers: [service.url],
    scopes_supported: ['inference', 'usage:read'],
    bearer_methods_supported: ['header'],
  });
});

test.each(['openid-configuration', 'oauth-authorization-server'])('%s announces no ID tokens', async (name) => {
  const answer = await call(`${service.url}/.well-known/${name}`);
  expect(answer.text).not.toContain('id_token');
  expect(answer.body).not.toHaveProperty('claims_supported');
});

test.each([
  '/v1/integrations/oauth/jwks',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource/v1/integrations',
])('%s, which is no endpoint for tokens, answers errors as `detail`', async (path) => {
  const answer = await call(`${service.url}${path}`, { method: 'POST' });
  expect(answer).toMatchObject({ status: 405, body: { detail: { code: 'method_not_allowed' } } });
});
