import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { idPattern, newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { readBodyBytes } from '../src/index.ts';
import { sendRaw } from './support/raw-http.ts';
import { startTestApp } from './support/test-app.ts';

const json = { 'content-type': 'application/json' };

test('a bound route gets its parsed parameters, query, headers and body', async () => {
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

test('an optional body may be absent, and is still checked when it is there', async () => {
  const { send } = await startTestApp();
  expect((await send('POST', '/v1/things/fixed/rotate')).body).toEqual({ overlap: null });
  expect((await send('POST', '/v1/things/fixed/rotate', { body: { overlap_seconds: 5 } })).body).toEqual({
    overlap: 5,
  });
  expect((await send('POST', '/v1/things/fixed/rotate', { body: { overlap: 5 } })).status).toBe(422);
});

test('a form is checked like a body, with loc "form"', async () => {
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
  ['limit=', ['limit'], 'int_type'],
  ['limit=0', ['limit'], 'greater_than_equal'],
  ['limit=101', ['limit'], 'less_than_equal'],
  ['limit=99999999999999999999', ['limit'], 'int_type'],
  ['limit=5&limit=6', ['limit'], 'value_error'],
  ['after=', ['after'], 'string_too_short'],
  ['after=%00', ['after'], 'value_error'],
  ['is_open=yes', ['is_open'], 'bool_type'],
])('query %s is a 422', async (query, loc, type) => {
  const { send } = await startTestApp();
  const { status, body } = await send('GET', `/v1/things?${query}`);
  expect(status).toBe(422);
  expect(body.detail).toEqual([expect.objectContaining({ loc: ['query', ...loc], type })]);
});

test('RFC 6749 §3.1: an OAuth parameter without a value counts as left out', async () => {
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
])('body %s is a 422', async (body, loc, type) => {
  const { send } = await startTestApp();
  const answer = await send('POST', '/v1/things', { headers: json, body });
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toEqual([expect.objectContaining({ loc, type })]);
});

test('a surrogate pair that is whole may be escaped', async () => {
  const { send } = await startTestApp();
  const answer = await send('POST', '/v1/things', { headers: json, body: '{"name":"\\uD83D\\uDE00"}' });
  expect(answer.status).toBe(201);
});

test('bytes that are not UTF-8 are no JSON', async () => {
  const { port } = await startTestApp();
  const head =
    'POST /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n';
  const answer = await sendRaw(port, `${head}{"name":"\u00e9"`);
  expect(answer).toContain('json_invalid');
});

test('faults of path, headers and body are told together', async () => {
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
])('a body of type %s with other headers is a 415', async (type, body, headers) => {
  const { send } = await startTestApp();
  const answer = await send('POST', '/v1/things', { headers: { 'content-type': type, ...headers }, body });
  expect([answer.status, answer.body.detail.code]).toEqual([415, 'unsupported_media_type']);
});

test('a body without a content type is a 415', async () => {
  const { port } = await startTestApp();
  const answer = await sendRaw(
    port,
    'POST /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
  );
  expect(answer).toContain('HTTP/1.1 415');
});

test('a body over the limit is a 413, announced or not, and the connection can be used again', async () => {
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

test('a body that stops coming is a 408, and one that is slow is not', async () => {
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

test('a body is the same with its head, in chunks, in pieces of any size, and behind another request', async () => {
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

test('a caller that leaves while sending its body is no error of ours', async () => {
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

test('an unknown path is a 404, a known one with another method a 405 with Allow', async () => {
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
  'malformed encoding %s is a 404',
  async (path) => {
    const { port } = await startTestApp();
    const answer = await sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer session-personal\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  },
);

test('HEAD answers like GET without a body, OPTIONS names the methods', async () => {
  const { send } = await startTestApp();
  const head = await send('HEAD', '/v1/things');
  expect([head.status, head.text]).toEqual([200, '']);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
  const options = await send('OPTIONS', '/v1/things');
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, POST, HEAD, OPTIONS']);
});

test('a route of the contract that is not bound is a 501 by name, whoever asks', async () => {
  const { send } = await startTestApp();
  const { status, body } = await send('DELETE', '/v1/things/a');
  expect(status).toBe(501);
  expect(body).toEqual({
    detail: { code: 'not_implemented', message: 'unboundThing is not available in this release.' },
  });
});

test('every answer carries the security headers, which a handler may replace', async () => {
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

test('over http there is no Strict-Transport-Security', async () => {
  const { send } = await startTestApp({ publicBaseUrl: 'http://127.0.0.1:8080' });
  expect((await send('GET', '/v1/things')).headers.get('strict-transport-security')).toBeNull();
});

test('X-Request-Id: one of ours is kept, anything else is replaced', async () => {
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

test('metrics and logs name the route and never the path, the query or the body', async () => {
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
