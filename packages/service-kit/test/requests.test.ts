import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { idPattern, newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { bind, readBodyBytes } from '../src/index.ts';
import { sendRaw } from './support/raw-http.ts';
import { startTestApp, testRoutes } from './support/test-app.ts';

const json = { 'content-type': 'application/json' };

test('passes parsed parameters, query, headers and body to the handler', async () => {
  const { send } = await startTestApp();
  expect((await send('GET', '/v1/things?limit=7&is_open=true&tag=a&tag=b')).body).toEqual({
    limit: 7,
    is_open: true,
    tag: ['a', 'b'],
  });
  expect((await send('GET', '/v1/things?tag=a')).body).toEqual({ limit: 50, tag: ['a'] });
  const created = await send('POST', '/v1/things', { body: { name: 'x' } });
  expect([created.status, created.body]).toEqual([201, { name: 'x' }]);
  const authorization = 'bearer session-personal';
  const got = await send('GET', '/v1/things/a%20b', { headers: { authorization, 'x-mode': 'b' } });
  expect(got.body).toEqual({ thing_id: 'a b', mode: 'b', user: 'usr_1' });
});

test('names the address of what a request created (RFC 9110 §15.3.2)', async () => {
  const { send } = await startTestApp();
  const { headers } = await send('POST', '/v1/things', { body: { name: 'a b' } });
  expect(headers.get('location')).toBe('/v1/things/a%20b');
  expect((await send('GET', '/v1/things')).headers.get('location')).toBeNull();
});

test('counts empty headers and query parameters as absent', async () => {
  const { send } = await startTestApp();
  expect((await send('GET', '/v1/things?limit=&after=&is_open=&tag=')).body).toEqual({ limit: 50 });
  const headers = { authorization: 'Bearer session-personal', 'x-mode': '' };
  expect((await send('GET', '/v1/things/a', { headers })).body).toMatchObject({ mode: null });
});

test('accepts an absent optional body and validates a present one', async () => {
  const { send } = await startTestApp();
  expect((await send('POST', '/v1/things/fixed/rotate')).body).toEqual({ overlap: null });
  expect((await send('POST', '/v1/things/fixed/rotate', { body: { overlap_seconds: 5 } })).body).toEqual({
    overlap: 5,
  });
  expect((await send('POST', '/v1/things/fixed/rotate', { body: { overlap: 5 } })).status).toBe(422);
});

test('validates a form like a body, with loc "form"', async () => {
  const { send } = await startTestApp();
  const headers = { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' };
  expect((await send('POST', '/v1/form', { headers, body: 'action=pay&amount=12' })).body).toEqual({
    action: 'pay',
    amount: 12,
  });
  const refused = await send('POST', '/v1/form', { headers, body: 'action=pay&action=cancel&amount=1x' });
  expect(refused.body.detail).toEqual([
    expect.objectContaining({ loc: ['form', 'action'], type: 'value_error' }),
    expect.objectContaining({ loc: ['form', 'amount'], type: 'int_type' }),
  ]);
  expect((await send('POST', '/v1/form')).body.detail).toEqual([
    { loc: ['form', 'action'], type: 'missing', msg: 'Field required' },
  ]);
});

test.each([
  ['limit=5x', ['limit'], 'int_type'],
  ['limit=1.5', ['limit'], 'int_type'],
  ['limit=0', ['limit'], 'greater_than_equal'],
  ['limit=101', ['limit'], 'less_than_equal'],
  ['limit=99999999999999999999', ['limit'], 'int_type'],
  ['limit=5&limit=6', ['limit'], 'value_error'],
  ['after=%00', ['after'], 'value_error'],
  ['is_open=yes', ['is_open'], 'bool_type'],
])('returns 422 for query %s', async (query, loc, type) => {
  const { send } = await startTestApp();
  const { status, body } = await send('GET', `/v1/things?${query}`);
  expect(status).toBe(422);
  expect(body.detail).toEqual([expect.objectContaining({ loc: ['query', ...loc], type })]);
});

test('RFC 6749 §3.1: treats an OAuth parameter without a value as omitted', async () => {
  const { send } = await startTestApp();
  const { status, body } = await send('GET', '/v1/oauth/authorize?client_id=&state=short&scope=');
  expect(status).toBe(422);
  expect(body.detail).toEqual([
    expect.objectContaining({ loc: ['query', 'client_id'], type: 'missing' }),
    expect.objectContaining({ loc: ['query', 'state'], type: 'string_too_short', ctx: { min_length: 16 } }),
  ]);
  expect((await send('GET', `/v1/oauth/authorize?client_id=a&state=${'s'.repeat(16)}&scope=`)).text).toContain(
    'inference usage:read',
  );
});

test.each([
  ['{"name": "x"', ['body'], 'json_invalid'],
  ['', ['body'], 'missing'],
  ['[]', ['body'], 'dict_type'],
  ['5', ['body'], 'dict_type'],
  ['null', ['body'], 'dict_type'],
  ['{}', ['body', 'name'], 'missing'],
  ['{"name":"x","extra":1}', ['body', 'extra'], 'extra_forbidden'],
  ['{"name":"x","__proto__":{"a":1}}', ['body', '__proto__'], 'extra_forbidden'],
  ['{"name":"a\\u0000b"}', ['body'], 'value_error'],
  ['{"name":"a\\ud83db"}', ['body'], 'value_error'],
  ['{"name":"a\\uDE00\\uD83D"}', ['body'], 'value_error'],
  ['{"name":"x","\\uDFFF":1}', ['body'], 'value_error'],
  ['{"name":"x","count":0}', ['body', 'count'], 'greater_than'],
  ['{"name":"x","count":"1"}', ['body', 'count'], 'int_type'],
])('returns 422 for body %s', async (body, loc, type) => {
  const { send } = await startTestApp();
  const answer = await send('POST', '/v1/things', { headers: json, body });
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toEqual([expect.objectContaining({ loc, type })]);
});

test('accepts an escaped complete surrogate pair', async () => {
  const { send } = await startTestApp();
  const answer = await send('POST', '/v1/things', { headers: json, body: '{"name":"\\uD83D\\uDE00"}' });
  expect(answer.status).toBe(201);
});

test('returns 422 for JSON that is not UTF-8', async () => {
  const { port } = await startTestApp();
  const head =
    'POST /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n';
  const answer = await sendRaw(port, `${head}{"name":"\u00e9"`);
  expect(answer).toContain('json_invalid');
});

test('reports faults of path, headers and body together', async () => {
  const { send } = await startTestApp();
  const headers = { authorization: 'Bearer session-personal', 'x-mode': 'z' };
  const { body } = await send('GET', `/v1/things/${'x'.repeat(21)}`, { headers });
  expect(body.detail.map((item: { loc: unknown; type: string }) => [item.loc, item.type])).toEqual([
    [['path', 'thing_id'], 'string_too_long'],
    [['header', 'x-mode'], 'enum'],
  ]);
});

test.each([
  ['text/plain', '{"name":"x"}', {}],
  ['application/json; charset=latin1', '{"name":"x"}', {}],
  ['application/jsonx', '{"name":"x"}', {}],
  ['application/json', '{"name":"x"}', { 'content-encoding': 'gzip' }],
])('returns 415 for a body of type %s with mismatched headers', async (type, body, headers) => {
  const { send } = await startTestApp();
  const answer = await send('POST', '/v1/things', { headers: { 'content-type': type, ...headers }, body });
  expect([answer.status, answer.body.detail.code]).toEqual([415, 'unsupported_media_type']);
});

test('returns 415 for a body without a content type', async () => {
  const { port } = await startTestApp();
  const answer = await sendRaw(
    port,
    'POST /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
  );
  expect(answer).toContain('HTTP/1.1 415');
});

test('returns 413 for a body over the limit, announced or not, and keeps the connection usable', async () => {
  const { send, port } = await startTestApp();
  const large = JSON.stringify({ name: 'x'.repeat(2_000) });
  const announced = await send('POST', '/v1/things', { headers: json, body: large });
  expect([announced.status, announced.body.detail.code]).toEqual([413, 'payload_too_large']);
  const head =
    'POST /v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const next = 'GET /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const chunked = await sendRaw(port, `${head}${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n${next}`);
  expect(chunked.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
});

test('returns 408 for a stalled body but not for a slow one', async () => {
  const read: unknown[] = [];
  const server = createServer((req, res) => {
    const body = readBodyBytes(req, 100, 1_000);
    body.then(
      (bytes) => read.push(bytes.toString()),
      (error: unknown) => read.push(error),
    );
    void body.catch(() => {}).then(() => res.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n';
  socket.write(head);
  for (const letter of 'slow!') {
    await sleep(250);
    socket.write(letter);
  }
  await waitFor(() => read.length === 1);
  socket.write(`${head}sto`);
  await waitFor(() => read.length === 2);
  expect(read).toEqual(['slow!', expect.objectContaining({ code: 'request_timeout', status: 408 })]);
  socket.destroy();
  server.close();
});

test('reads the same body with the head, in chunks, in pieces of any size, and pipelined', async () => {
  const { port } = await startTestApp();
  const body = JSON.stringify({ name: 'é'.repeat(20) });
  const head = 'POST /v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  const whole = `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const chunks = [...body].map((character) => `${Buffer.byteLength(character).toString(16)}\r\n${character}\r\n`);
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`;
  const last = `${head}Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const answer = await sendRaw(port, whole + chunked + last);
  expect(answer.split(body)).toHaveLength(4);
  for (let cut = last.length - body.length - 2; cut < last.length; cut += 1) {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(last.slice(0, cut));
      setTimeout(() => socket.write(last.slice(cut)), 5);
    });
    expect((await socket.setEncoding('utf8').toArray()).join('')).toContain(body);
  }
});

test('logs no error if the caller disconnects while sending its body', async () => {
  const { port, lines, send } = await startTestApp();
  const head =
    'POST /v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"name"';
  const socket = connect(port, '127.0.0.1', () => socket.write(head, () => socket.destroy()));
  await expect
    .poll(() => lines.find((line) => line['status'] === 499))
    .toMatchObject({ operation: 'createThing', aborted: true });
  expect(lines.filter((line) => line['level'] === 'error')).toEqual([]);
  expect((await send('GET', '/v1/things')).status).toBe(200);
});

test('returns 404 for an unknown path, and 405 with Allow for another method', async () => {
  const { send } = await startTestApp();
  for (const path of ['/', '/v1', '/v1/thing', '/v1/things/', '/V1/things', '/v1/things/a/b', '/v1/../etc/passwd']) {
    const missing = await send('GET', path);
    expect([path, missing.status, missing.body.detail.code]).toEqual([path, 404, 'not_found']);
  }
  const refused = await send('PUT', '/v1/things');
  expect([refused.status, refused.body.detail.code]).toEqual([405, 'method_not_allowed']);
  expect(refused.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
});

test.each(['/v1/things/%zz', '/v1/things/%', '/%zz', '/v1/things/%c0%af'])(
  'returns 404 for malformed encoding %s',
  async (path) => {
    const { port } = await startTestApp();
    const answer = await sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer session-personal\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  },
);

test('answers HEAD like GET without a body, and OPTIONS with the methods', async () => {
  const { send } = await startTestApp();
  const head = await send('HEAD', '/v1/things');
  expect([head.status, head.text]).toEqual([200, '']);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
  const options = await send('OPTIONS', '/v1/things');
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, POST, HEAD, OPTIONS']);
});

test('returns 501 with the operation id for an unbound route, even without a credential', async () => {
  const { send } = await startTestApp();
  const { status, body } = await send('DELETE', '/v1/things/a');
  expect(status).toBe(501);
  expect(body).toEqual({
    detail: { code: 'not_implemented', message: 'unboundThing is not available in this release.' },
  });
});

test('sends the security headers on every response and lets handlers replace them', async () => {
  const { send } = await startTestApp({ publicBaseUrl: 'https://api.example.test' });
  for (const answer of [
    await send('GET', '/v1/things'),
    await send('GET', '/nowhere'),
    await send('POST', '/v1/things'),
  ]) {
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'strict-transport-security': expect.stringContaining('max-age='),
    });
    expect(answer.headers.get('x-powered-by')).toBeNull();
  }
  const page = await send('GET', `/v1/oauth/authorize?client_id=a&state=${'s'.repeat(16)}`);
  expect(page.headers.get('content-security-policy')).toBe("default-src 'self'");
  expect(page.headers.get('cache-control')).toBe('private');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
});

test('sends no Strict-Transport-Security over http', async () => {
  const { send } = await startTestApp({ publicBaseUrl: 'http://127.0.0.1:8080' });
  expect((await send('GET', '/v1/things')).headers.get('strict-transport-security')).toBeNull();
});

test('keeps a well-formed X-Request-Id and replaces any other', async () => {
  const { send } = await startTestApp();
  const requestId = newId('req');
  expect((await send('GET', '/nowhere', { headers: { 'x-request-id': requestId } })).headers.get('x-request-id')).toBe(
    requestId,
  );
  for (const forged of ['1', 'req_x', `req_${'U'.repeat(26)}`]) {
    const answered = (await send('GET', '/v1/things', { headers: { 'x-request-id': forged } })).headers.get(
      'x-request-id',
    );
    expect(answered).toMatch(idPattern('req'));
    expect(answered).not.toBe(forged);
  }
});

test('names the route in metrics and logs, never the path, query or body', async () => {
  const { send, metrics, lines } = await startTestApp();
  await send('GET', '/v1/things/canary-id?token=canary-query', { headers: { authorization: 'Bearer canary-token' } });
  await send('POST', '/v1/things', { body: { name: 'canary-body', 'canary-key': 1 } });
  await send('GET', '/canary-path');
  await send('PROPFIND', '/v1/things');
  await expect.poll(() => lines.filter((line) => line['message'] === 'request').length).toBe(4);
  expect(lines).toEqual([
    expect.objectContaining({
      operation: 'getThing',
      route: '/v1/things/{thing_id}',
      method: 'GET',
      status: 401,
      code: 'invalid_token',
    }),
    expect.objectContaining({ operation: 'createThing', status: 422 }),
    expect.objectContaining({ operation: 'unmatched', status: 404 }),
    expect.objectContaining({ operation: 'unmatched', status: 405 }),
  ]);
  expect(lines.every((line) => idPattern('req').test(String(line['request_id'])))).toBe(true);
  const { body } = await metrics.render();
  expect(body).toContain('http_requests_total{operation="getThing",method="GET",status="401",service="auth"} 1');
  expect(body).toContain('http_requests_total{operation="unmatched",method="other",status="405",service="auth"} 1');
  expect(body).toContain('http_request_duration_seconds_bucket');
  expect(body).toContain('nodejs_eventloop_lag_p99_seconds');
  expect(body + JSON.stringify(lines)).not.toContain('canary');
});

test('lists the requests of a batch in its log line, unless it has the only one', async () => {
  const ids = [newId('req'), newId('req')];
  const { send, lines } = await startTestApp({
    bindings: [
      bind(testRoutes.createThing, async (context) => {
        context.nameRequests(context.body.name === 'batch' ? ids : [context.requestId]);
        return { status: 201, body: { name: context.body.name } };
      }),
    ],
  });
  for (const name of ['batch', 'single']) await send('POST', '/v1/things', { body: { name } });
  await expect.poll(() => lines.map((line) => line['request_ids'])).toEqual([ids, undefined]);
});
