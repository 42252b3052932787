import { expect, test } from 'vitest';
import { AppError, bind } from '../src/index.ts';
import { startTestApp, testRoutes } from './support/test-app.ts';
import { testAuthenticators } from './support/test-authenticators.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('returns not_authenticated with a bare challenge for a missing credential (RFC 6750 §3.1)', async () => {
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

test('returns invalid_token with an error in the challenge for a refused credential', async () => {
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

test('ignores a token in the query or the body', async () => {
  const { send } = await startTestApp();
  const inQuery = await send('GET', '/v1/things/a?access_token=session-personal');
  expect(inQuery.body.detail.code).toBe('not_authenticated');
});

test('returns insufficient_scope and names the missing scope in the challenge (RFC 6750 §3.1)', async () => {
  const { send } = await startTestApp();
  const { status, body, headers } = await send('POST', '/v1/infer', { headers: bearer('access-usage') });
  expect([status, body.detail.code]).toEqual([403, 'insufficient_scope']);
  expect(headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="inference"');
  const allowed = await send('POST', '/v1/infer', { headers: bearer('access-inference'), body: { messages: [{}] } });
  expect(allowed.body).toEqual({ app: 'app_1', count: 1 });
});

test('returns email_not_verified on a route that wants a confirmed address if the token denies one', async () => {
  const { send } = await startTestApp();
  const statuses = async (path: string) =>
    (await send('POST', path, { headers: bearer('session-unverified') })).body.detail?.code;
  expect(await statuses('/v1/things/a/buy')).toBe('email_not_verified');
  expect((await send('GET', '/v1/things/a', { headers: bearer('session-unverified') })).status).toBe(200);
  expect((await send('POST', '/v1/things/a/buy', { headers: bearer('session-personal') })).status).toBe(200);
});

test('takes a management key by the scope of the route, and refuses it where there is none', async () => {
  const { send } = await startTestApp();
  const get = await send('GET', '/v1/things/a', { headers: bearer('svc_mk_apps:write') });
  expect([get.status, get.body.user]).toEqual([200, 'usr_1']);
  const change = { body: { active: true } };
  const refused = await send('PATCH', '/v1/things/a', { headers: bearer('svc_mk_apps:read'), ...change });
  expect([refused.status, refused.body.detail.code]).toEqual([403, 'insufficient_scope']);
  expect(refused.headers.get('www-authenticate')).toBe('Bearer error="insufficient_scope", scope="apps:write"');
  expect((await send('PATCH', '/v1/things/a', { headers: bearer('svc_mk_apps:write'), ...change })).status).toBe(200);
  const never = await send('POST', '/v1/things/a/buy', { headers: bearer('svc_mk_apps:write') });
  expect([never.status, never.headers.get('www-authenticate')]).toEqual([403, 'Bearer error="insufficient_scope"']);
});

test('returns business_account_required for a personal account on a business route', async () => {
  const { send } = await startTestApp();
  const refused = await send('PATCH', '/v1/things/a', { headers: bearer('session-personal'), body: { active: true } });
  expect([refused.status, refused.body.detail.code]).toEqual([403, 'business_account_required']);
  const allowed = await send('PATCH', '/v1/things/a', { headers: bearer('session-business'), body: { active: true } });
  expect(allowed.body).toEqual({ active: true });
});

test('returns reauthentication_required on a step-up route if the person authenticated too long ago', async () => {
  const route = { ...testRoutes.getThing, stepUp: true } as const;
  const bindings = [bind(route, async ({ params }) => ({ status: 200, body: params }))];
  const statusAfter = async (ageMs: number) => {
    const stepUp = { maxAgeSeconds: 900, clock: () => new Date(ageMs) };
    const { send } = await startTestApp({ contract: [route], bindings, stepUp });
    const { status, body } = await send('GET', '/v1/things/a', { headers: bearer('session-personal') });
    return [status, body.detail?.code];
  };
  expect(await statusAfter(900_000)).toEqual([200, undefined]);
  expect(await statusAfter(900_001)).toEqual([403, 'reauthentication_required']);
  await expect(startTestApp({ contract: [route], bindings })).rejects.toThrow('getThing requires stepUp');
});

test('checks in order: 404 and 405, 401, 403, 415 and 413, 422', async () => {
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

test('returns 503, not 401, if the authenticator cannot decide', async () => {
  const { send } = await startTestApp();
  const { status, body } = await send('POST', '/v1/wire/completions', { headers: bearer('unreachable') });
  expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
});

test('throws at start-up if a bound route has no authenticator', async () => {
  const bindings = [bind(testRoutes.getThing, async () => ({ status: 200, body: { thing_id: 'a' } }))];
  await expect(startTestApp({ bindings, authenticate: {} })).rejects.toThrow(
    'getThing requires an authenticator for console_session',
  );
});

test('throws for a route that is bound twice or by another service', async () => {
  const binding = bind(testRoutes.listThings, async () => ({ status: 200, body: {} }));
  await expect(startTestApp({ bindings: [binding, binding] })).rejects.toThrow('listThings is bound twice');
  await expect(startTestApp({ bindings: [binding], contract: [], authenticate: testAuthenticators })).rejects.toThrow(
    'listThings is not a route',
  );
});

test('takes the client address from the entry of the outermost trusted proxy', async () => {
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

test('adds the challenge to a 401 thrown by a handler (RFC 9110 §15.5.2)', async () => {
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
