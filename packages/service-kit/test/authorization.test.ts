import { expect, test } from 'vitest';
import { AppError, bind } from '../src/index.ts';
import { startTestApp, testAuthenticators, testRoutes } from './support/test-app.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('no credential: not_authenticated, with a bare challenge (RFC 6750 §3.1)', async () => {
  const { send } = await startTestApp();
  for (const headers of [
    {},
    { authorization: 'Basic dTpw' },
    { authorization: 'Bearer' },
    { cookie: 'token=session-personal' },
  ]) {
    const { status, body, headers: answered } = await send('GET', '/v1/things/a', { headers });
    expect([status, body.detail.code, answered.get('www-authenticate')]).toEqual([401, 'not_authenticated', 'Bearer']);
  }
});

test('a refused credential: invalid_token, and the challenge says so', async () => {
  const { send } = await startTestApp();
  for (const token of ['nonsense', 'two words', 'access-inference', 'x'.repeat(9_000)]) {
    const { status, body, headers } = await send('GET', '/v1/things/a', { headers: bearer(token) });
    expect([status, body.detail.code, headers.get('www-authenticate')]).toEqual([
      401,
      'invalid_token',
      'Bearer error="invalid_token"',
    ]);
  }
  expect((await send('POST', '/v1/infer', { headers: bearer('session-business') })).body.detail.code).toBe(
    'invalid_token',
  );
});

test('a token in the query or in the body is not looked at', async () => {
  const { send } = await startTestApp();
  const inQuery = await send('GET', '/v1/things/a?access_token=session-personal');
  expect(inQuery.body.detail.code).toBe('not_authenticated');
});

test('a scope that was not granted: insufficient_scope, named in the challenge (RFC 6750 §3.1)', async () => {
  const { send } = await startTestApp();
  const { status, body, headers } = await send('POST', '/v1/infer', { headers: bearer('access-usage') });
  expect([status, body.detail.code]).toEqual([403, 'insufficient_scope']);
  expect(headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="inference"');
  const allowed = await send('POST', '/v1/infer', { headers: bearer('access-inference'), body: { messages: [{}] } });
  expect(allowed.body).toEqual({ app: 'app_1', count: 1 });
});

test('a personal account on a business route: business_account_required', async () => {
  const { send } = await startTestApp();
  const refused = await send('PATCH', '/v1/things/a', { headers: bearer('session-personal'), body: { active: true } });
  expect([refused.status, refused.body.detail.code]).toEqual([403, 'business_account_required']);
  const allowed = await send('PATCH', '/v1/things/a', { headers: bearer('session-business'), body: { active: true } });
  expect(allowed.body).toEqual({ active: true });
});

test('order of answers: 404 and 405, then 401, then 403, then 415 and 413, then 422', async () => {
  const { send } = await startTestApp();
  const bad = { 'content-type': 'text/plain' };
  const large = 'x'.repeat(2 * 1024 * 1024);
  const statuses = [
    await send('PATCH', '/v1/nothing/a', { headers: bad, body: large }),
    await send('PUT', '/v1/things/a', { headers: bad, body: large }),
    await send('PATCH', '/v1/things/a', { headers: bad, body: large }),
    await send('PATCH', '/v1/things/a', { headers: { ...bad, ...bearer('session-personal') }, body: large }),
    await send('PATCH', '/v1/things/a', { headers: { ...bad, ...bearer('session-business') }, body: large }),
    await send('PATCH', '/v1/things/a', {
      headers: { 'content-type': 'application/json', ...bearer('session-business') },
      body: large,
    }),
    await send('PATCH', '/v1/things/a', { headers: bearer('session-business'), body: { active: 'yes' } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([404, 405, 401, 403, 415, 413, 422]);
});

test('an authenticator that cannot decide is a 503, not a 401', async () => {
  const { send } = await startTestApp();
  const { status, body } = await send('POST', '/v1/wire/completions', { headers: bearer('unreachable') });
  expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
});

test('a bound route whose kind of caller nobody authenticates is found at start', async () => {
  const bindings = [bind(testRoutes.getThing, async () => ({ status: 200, body: { thing_id: 'a' } }))];
  await expect(startTestApp({ bindings, authenticate: {} })).rejects.toThrow(
    'getThing wants an authenticator for console_session',
  );
});

test('a route is bound once, and only by the service that owns it', async () => {
  const binding = bind(testRoutes.listThings, async () => ({ status: 200, body: {} }));
  await expect(startTestApp({ bindings: [binding, binding] })).rejects.toThrow('listThings is bound twice');
  await expect(startTestApp({ bindings: [binding], contract: [], authenticate: testAuthenticators })).rejects.toThrow(
    'listThings is not a route',
  );
});

test('the client address is the entry that the trusted proxies vouch for', async () => {
  const seen: string[] = [];
  const bindings = [
    bind(testRoutes.listThings, async ({ clientAddress }) => {
      seen.push(clientAddress);
      return { status: 200, body: {} };
    }),
  ];
  const one = await startTestApp({ bindings });
  const none = await startTestApp({ bindings, trustProxyHops: 0 });
  const two = await startTestApp({ bindings, trustProxyHops: 2 });
  const headers = { 'x-forwarded-for': '6.6.6.6, 198.51.100.7, 203.0.113.9' };
  for (const app of [one, none, two]) await app.send('GET', '/v1/things', { headers });
  await one.send('GET', '/v1/things', { headers: { 'x-forwarded-for': 'not-an-address' } });
  await one.send('GET', '/v1/things', { headers: { 'x-forwarded-for': '::ffff:198.51.100.7' } });
  await one.send('GET', '/v1/things');
  expect(seen).toEqual(['203.0.113.9', '127.0.0.1', '198.51.100.7', '127.0.0.1', '198.51.100.7', '127.0.0.1']);
});

test('a 401 that a handler throws carries the challenge too (RFC 9110 §15.5.2)', async () => {
  const challenged = async (code: 'invalid_token' | 'invalid_credentials') => {
    const bindings = [
      bind(testRoutes.listThings, async () => {
        throw new AppError(code);
      }),
    ];
    const { send } = await startTestApp({ bindings });
    return (await send('GET', '/v1/things')).headers.get('www-authenticate');
  };
  expect(await challenged('invalid_token')).toBe('Bearer error="invalid_token"');
  expect(await challenged('invalid_credentials')).toBe('Bearer');
});
