import { routesOf } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  AppError,
  bind,
  HANDLED,
  invalidField,
  listUnboundRoutes,
  parseOrThrow,
  readBodyBytes,
  readOauthForm,
} from '../src/index.ts';
import { sendRaw } from './support/raw-http.ts';
import { startTestApp, testRoutes } from './support/test-app.ts';

/** Returns the test contract with another handler for one route. */
const answering = (handle: () => Promise<never> | never) =>
  startTestApp({ bindings: [bind(testRoutes.listThings, async () => handle())] });

test('sends code, message, details and headers of an AppError in the detail shape', async () => {
  const { send, lines } = await answering(() => {
    throw new AppError('weekly_limit_exceeded', 'The weekly cap is reached.', {
      details: { resets_at: '2026-01-01T00:00:00Z', code: 'overwritten?' },
      headers: { 'retry-after': '60' },
    });
  });
  const { status, body, headers } = await send('GET', '/v1/things');
  expect(status).toBe(402);
  expect(body).toEqual({
    detail: { code: 'weekly_limit_exceeded', message: 'The weekly cap is reached.', resets_at: '2026-01-01T00:00:00Z' },
  });
  expect(headers.get('retry-after')).toBe('60');
  await expect.poll(() => lines.length).toBe(1);
  expect(lines[0]).toMatchObject({ level: 'info', code: 'weekly_limit_exceeded' });
});

test('returns a bare 500 for an unknown error and logs stack and request id without content', async () => {
  const { send, lines } = await answering(() => {
    throw Object.assign(new TypeError('boom at table accounts'), {
      body: 'canary',
      headers: { authorization: 'canary' },
    });
  });
  const { status, body, text, headers } = await send('GET', '/v1/things');
  expect([status, body.detail.code]).toEqual([500, 'internal_error']);
  expect(text).not.toMatch(/boom|TypeError|accounts|at /);
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[0]).toMatchObject({
    level: 'error',
    operation: 'listThings',
    request_id: headers.get('x-request-id'),
    err: {
      type: 'AppError',
      stack: expect.any(String),
      cause: { type: 'TypeError', message: 'boom at table accounts' },
    },
  });
  expect(JSON.stringify(lines)).not.toContain('canary');
});

test.each([undefined, null, 'text', 5, { code: 'not_found', status: 404 }])(
  'returns 500 if a handler throws %j',
  async (thrown) => {
    const { send } = await answering(() => {
      throw thrown;
    });
    const { status, body } = await send('GET', '/v1/things');
    expect([status, body?.detail.code]).toEqual([500, 'internal_error']);
  },
);

test('returns a bare 503 if isUnavailable recognizes the failure of a dependency', async () => {
  const { send } = await startTestApp({
    bindings: [
      bind(testRoutes.listThings, async () => {
        throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.7'), { code: 'ECONNREFUSED' });
      }),
      bind(testRoutes.createThing, async () => {
        throw new Error('a bug');
      }),
    ],
    isUnavailable: (thrown) => thrown instanceof Error && 'code' in thrown && thrown.code === 'ECONNREFUSED',
  });
  const { status, body, text } = await send('GET', '/v1/things');
  expect([status, body.detail.code]).toEqual([503, 'service_unavailable']);
  expect(text).not.toContain('ECONNREFUSED');
  expect((await send('POST', '/v1/things', { body: { name: 'x' } })).status).toBe(500);
});

test('logs the cause of kind unavailable but does not send it', async () => {
  const { send, lines } = await answering(() => {
    throw new AppError('service_unavailable', undefined, { cause: new Error('connect ECONNREFUSED 10.0.0.7') });
  });
  const { status, text } = await send('GET', '/v1/things');
  expect(status).toBe(503);
  expect(text).not.toContain('ECONNREFUSED');
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[0]).toMatchObject({
    level: 'error',
    kind: 'unavailable',
    err: { cause: { message: 'connect ECONNREFUSED 10.0.0.7' } },
  });
});

test('returns 422 for invalidField thrown by an operation', async () => {
  const { send } = await answering(() => {
    throw invalidField(['body', 'url'], 'value_error', 'Value error, must be public');
  });
  const { status, body } = await send('GET', '/v1/things');
  expect(status).toBe(422);
  expect(body).toEqual({ detail: [{ loc: ['body', 'url'], type: 'value_error', msg: 'Value error, must be public' }] });
});

test('uses the wire shape for every error, including 401, 404, 405, 413, 415 and validation', async () => {
  const { send } = await startTestApp();
  const path = '/v1/wire/completions';
  const key = { authorization: 'Bearer svc_sk_good' };
  const typed = { ...key, 'content-type': 'application/json' };
  const answers = {
    noKey: await send('POST', path),
    badKey: await send('POST', path, { headers: { authorization: 'Bearer nope' } }),
    unknown: await send('POST', '/v1/wire/nothing'),
    method: await send('GET', path),
    type: await send('POST', path, { headers: { ...key, 'content-type': 'text/plain' }, body: 'x' }),
    size: await send('POST', path, { headers: typed, body: `"${'x'.repeat(2_000)}"` }),
    json: await send('POST', path, { headers: typed, body: '{' }),
    field: await send('POST', path, { headers: typed, body: '{"model":"m","messages":[5]}' }),
  };
  const shapes = Object.entries(answers).map(([name, { status, body }]) => [name, status, body.error]);
  const error = (code: string, param: string | null = null) => ({
    message: expect.any(String),
    type: 'invalid_request_error',
    param,
    code,
  });
  expect(shapes).toEqual([
    ['noKey', 401, error('invalid_api_key')],
    ['badKey', 401, error('invalid_api_key')],
    ['unknown', 404, error('not_found')],
    ['method', 405, error('method_not_allowed')],
    ['type', 415, error('unsupported_media_type')],
    ['size', 413, error('payload_too_large')],
    ['json', 400, error('invalid_request_error')],
    ['field', 400, error('invalid_request_error', 'messages.0')],
  ]);
  expect(answers.noKey.headers.get('www-authenticate')).toBe('Bearer');
});

test('uses RFC 6749 codes for server failures in the oauth shape, and 422 for a malformed form', async () => {
  const schema = z.object({ grant_type: z.string(), client_id: z.string() });
  const { send } = await startTestApp({
    bindings: [
      bind(testRoutes.issueToken, async ({ req }) => {
        const form = await readOauthForm(req, schema, 1_000);
        if (form.grant_type === 'down') throw new AppError('service_unavailable');
        if (form.grant_type === 'bug') throw new Error('bug');
        return { status: 200, body: form };
      }),
    ],
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const token = (body: string) => send('POST', '/v1/oauth/token', { headers, body });
  expect((await token('grant_type=&client_id=a&client_id=b')).body.detail).toEqual([
    expect.objectContaining({ loc: ['form', 'client_id'], type: 'value_error' }),
    { loc: ['form', 'grant_type'], type: 'missing', msg: 'Field required' },
  ]);
  expect((await send('POST', '/v1/oauth/token')).status).toBe(422);
  expect((await token('grant_type=down&client_id=a')).body).toEqual({
    error: 'temporarily_unavailable',
    error_description: expect.any(String),
  });
  expect((await token('grant_type=bug&client_id=a')).body.error).toBe('server_error');
  const json = await send('POST', '/v1/oauth/token', { body: { grant_type: 'x' } });
  expect([json.status, json.body.error]).toEqual([415, 'invalid_request']);
  expect((await send('GET', '/v1/oauth/token')).body.error).toBe('invalid_request');
});

test.each([
  ['GET /v1/things', 'a fixed path', '{"detail":{"code":"repeated_host"'],
  ['GET /v1/things/t1', 'a path with a parameter', '{"detail":{"code":"repeated_host"'],
  ['GET /nowhere', 'an unknown path', '{"detail":{"code":"repeated_host"'],
  ['POST /v1/oauth/token', 'the token endpoint', '{"error":"invalid_request","error_description":'],
  ['POST /v1/wire/completions', 'the gateway', '"type":"invalid_request_error","param":null,"code":"repeated_host"}'],
])('RFC 9112 §3.2: %s with two Host headers (%s) returns 400 in the shape of the path', async (start, _path, body) => {
  const { port, lines } = await startTestApp();
  const answer = await sendRaw(port, `${start} HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\nX-Request-Id: req_/is);
  expect(answer).toContain(body);
  await waitFor(() => lines.length > 0);
  expect(lines).toMatchObject([{ status: 400, code: 'repeated_host' }]);
});

test('breaks the connection on an error after the head, so that the response is not taken as complete', async () => {
  const { url, lines } = await startTestApp({
    bindings: [
      bind(testRoutes.listThings, async ({ res }) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write('data: 1\n\n');
        throw new Error('lost');
      }),
    ],
  });
  await expect(fetch(`${url}/v1/things`).then((response) => response.text())).rejects.toThrow();
  expect(lines.some((line) => line['level'] === 'error')).toBe(true);
});

test('aborts the signal of a handler that writes itself if the caller disconnects', async () => {
  let isGone = false;
  const { url } = await startTestApp({
    bindings: [
      bind(testRoutes.listThings, async ({ res, signal }) => {
        signal.addEventListener('abort', () => {
          isGone = true;
        });
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write('data: 1\n\n');
        return HANDLED;
      }),
    ],
  });
  const leave = new AbortController();
  const response = await fetch(`${url}/v1/things`, { signal: leave.signal });
  await response.body?.getReader().read();
  leave.abort();
  await expect.poll(() => isGone).toBe(true);
});

test('passes the body of a raw route unread after checking its type', async () => {
  const { send } = await startTestApp({
    bindings: [
      bind(testRoutes.upload, async ({ req, body }) => ({
        status: 200,
        body: { bytes: (await readBodyBytes(req, 100)).length, body },
      })),
    ],
  });
  const form = { 'content-type': 'multipart/form-data; boundary=x' };
  expect((await send('PUT', '/v1/upload', { headers: form, body: 'x'.repeat(100) })).body).toEqual({ bytes: 100 });
  expect((await send('PUT', '/v1/upload', { headers: form, body: 'x'.repeat(101) })).status).toBe(413);
  expect((await send('PUT', '/v1/upload', { headers: { 'content-type': 'text/html' }, body: 'x' })).status).toBe(415);
  expect((await send('PUT', '/v1/upload', { headers: { ...form, 'content-encoding': 'br' }, body: 'x' })).status).toBe(
    415,
  );
});

test('returns 500 and logs the field, not the value, of an invalid response with response validation', async () => {
  const { send, lines } = await startTestApp({
    bindings: [
      bind(testRoutes.createThing, async ({ body }) =>
        body.name === 'status' ? { status: 202 } : { status: 201, body: { name: { canary: true } } },
      ),
    ],
  });
  expect((await send('POST', '/v1/things', { body: { name: 'x' } })).status).toBe(500);
  expect((await send('POST', '/v1/things', { body: { name: 'status' } })).status).toBe(500);
  const text = JSON.stringify(lines);
  expect(text).toContain('the response of createThing breaks its contract: name: invalid_type');
  expect(text).toContain('status 202 is not in it');
  expect(text).not.toContain('canary');
});

test('sends an invalid response unchanged without response validation', async () => {
  const { send } = await startTestApp({
    responseValidation: false,
    bindings: [bind(testRoutes.createThing, async () => ({ status: 201, body: { other: 1 } }))],
  });
  expect((await send('POST', '/v1/things', { body: { name: 'x' } })).body).toEqual({ other: 1 });
});

test('throws the same 422 from parseOrThrow', () => {
  expect(() => parseOrThrow(z.strictObject({ a: z.int() }), { a: 'x' }, 'form')).toThrow(
    expect.objectContaining({
      status: 422,
      issues: [expect.objectContaining({ loc: ['form', 'a'], type: 'int_type' })],
    }),
  );
});

test('lists the unbound routes of a service', () => {
  const [first, ...others] = routesOf('billing');
  if (first === undefined) throw new Error('billing has no routes');
  const bindings = others.map((route) => ({ route, handle: async () => ({ status: 204 }) }));
  expect(listUnboundRoutes('billing', bindings)).toEqual([first.operationId]);
});
