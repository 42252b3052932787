import { describe, expect, test } from 'vitest';
import { bind, HANDLED } from '../src/index.ts';
import { startTestApp, testBindings, testRoutes } from './support/test-app.ts';

const shared = { ...testRoutes.infer, crossOrigin: true } as const;
const options = {
  publicBaseUrl: 'https://api.example.test',
  contract: [shared, testRoutes.listThings],
  bindings: [
    bind(shared, async ({ res }) => {
      // Writes the head with its headers at once, as streams do.
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end('data: {}\n\n');
      return HANDLED;
    }),
    ...testBindings.filter(({ route }) => route.operationId === 'listThings'),
  ],
};
const ORIGIN = { origin: 'https://app.example' };
const PREFLIGHT = { ...ORIGIN, 'access-control-request-method': 'POST' };

describe('a route that declares crossOrigin', () => {
  test('lets pages of any origin read errors, their request id and challenge', async () => {
    const { send } = await startTestApp(options);
    const { status, headers } = await send('POST', '/v1/infer', { headers: ORIGIN });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    expect(headers.get('access-control-expose-headers')).toBe('X-Request-Id, Retry-After, WWW-Authenticate');
    const wrongMethod = await send('GET', '/v1/infer', { headers: ORIGIN });
    expect([wrongMethod.status, wrongMethod.headers.get('access-control-allow-origin')]).toEqual([405, '*']);
  });

  test('lets them read a stream whose head is written at once', async () => {
    const { send } = await startTestApp(options);
    const headers = { ...ORIGIN, authorization: 'Bearer access-inference' };
    const answer = await send('POST', '/v1/infer', { headers, body: { messages: [{}] } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  });

  test('answers a preflight for a day', async () => {
    const { send } = await startTestApp(options);
    const { status, headers } = await send('OPTIONS', '/v1/infer', { headers: PREFLIGHT });
    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type, idempotency-key, dpop, x-svc-provenance',
      'access-control-max-age': '86400',
    });
  });
});

describe('an unknown path beside routes that all declare crossOrigin', () => {
  const infer = { ...shared, path: '/v1/things/infer/chat' };
  const nested = {
    ...options,
    contract: [infer, testRoutes.listThings],
    bindings: [bind(infer, async () => ({ status: 200, body: {} }))],
  };

  test('lets pages read its 404', async () => {
    const { send } = await startTestApp(nested);
    for (const path of ['/v1/things/infer/unknown', '/v1/things/infer/un/known', '/v1/things/infer/chat/unknown']) {
      const { status, headers } = await send('POST', path, { headers: ORIGIN });
      expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 404, '*']);
    }
  });

  test('answers the preflight without which they would not ask', async () => {
    const { send } = await startTestApp(nested);
    const { status, headers } = await send('OPTIONS', '/v1/things/infer/unknown', { headers: PREFLIGHT });
    expect([status, headers.get('access-control-allow-methods')]).toEqual([204, 'POST']);
  });

  test('has no CORS headers beside a route without crossOrigin', async () => {
    const { send } = await startTestApp(nested);
    for (const path of ['/v1/things/unknown', '/v1/unknown', '/unknown']) {
      const { status, headers } = await send('POST', path, { headers: ORIGIN });
      expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 404, null]);
    }
  });
});

test('sends no CORS headers for a route without crossOrigin', async () => {
  const { send } = await startTestApp(options);
  for (const [method, headers] of [
    ['GET', ORIGIN],
    ['OPTIONS', PREFLIGHT],
  ] as const) {
    const answer = await send(method, '/v1/things', { headers });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(answer.headers.get('access-control-max-age')).toBeNull();
  }
});

test.each([
  [{}, 'Bearer resource_metadata='],
  [{ authorization: 'Bearer nonsense' }, 'Bearer error="invalid_token", resource_metadata='],
  [
    { authorization: 'Bearer access-usage' },
    'Bearer error="insufficient_scope", scope="inference", resource_metadata=',
  ],
])('RFC 9728 §5.1: names the resource metadata in the challenge to %j', async (headers, challenge) => {
  const { send } = await startTestApp(options);
  const answer = await send('POST', '/v1/infer', { headers });
  expect(answer.headers.get('www-authenticate')).toBe(
    `${challenge}"https://api.example.test/.well-known/oauth-protected-resource/v1/integrations"`,
  );
});
