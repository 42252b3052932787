import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { bind } from '../src/index.ts';
import { sendRaw } from './support/raw-http.ts';
import { startTestApp, testBindings, testRoutes } from './support/test-app.ts';

/** Starts the test application and counts the requests that reach a handler. */
const startCounting = async () => {
  let handled = 0;
  const count = bind(testRoutes.listThings, async ({ req }) => {
    handled += 1;
    return { status: 200, body: { url: req.url, host: req.headers.host } };
  });
  const others = testBindings.filter(({ route }) => route.operationId !== 'listThings');
  const { port } = await startTestApp({ bindings: [count, ...others] });
  return { port, handled: () => handled };
};

test.each([
  [
    'two Authorization headers',
    '1.1',
    'Authorization: Bearer session-personal\r\nauthorization: Bearer b',
    'repeated_a',
  ],
  ['RFC 9112 §6.1: a coding of the body in HTTP/1.0', '1.0', 'Transfer-Encoding: chunked', 'invalid_framing'],
])('returns 400 for %s, and serves nothing more on the connection', async (_title, version, header, code) => {
  const { port, handled } = await startCounting();
  const head = `POST /v1/things HTTP/${version}\r\nHost: x\r\nConnection: keep-alive\r\n${header}\r\n\r\n`;
  const answer = await sendRaw(port, `${head}0\r\n\r\nGET /v1/things HTTP/1.1\r\nHost: x\r\n\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 400 .*connection: close.*"code":"${code}`, 'is'));
  expect([answer.match(/HTTP\/1\.1/g)?.length, handled()]).toEqual([1, 0]);
});

test('RFC 9112 §3.2.2: serves a target in absolute form, whose authority replaces Host', async () => {
  const { port } = await startCounting();
  const answer = await sendRaw(
    port,
    'GET http://svc.example:81/v1/things?limit=1 HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n',
  );
  expect(answer).toContain('{"url":"/v1/things?limit=1","host":"svc.example:81"}');
});

test('RFC 9110 §10.1.1: returns 417 for an unknown expectation, and ignores it in HTTP/1.0 or if it is empty', async () => {
  const { port } = await startCounting();
  const get = (version: string, expectation: string) =>
    sendRaw(port, `GET /v1/things HTTP/${version}\r\nHost: x\r\nConnection: close\r\nExpect:${expectation}\r\n\r\n`);
  expect(await get('1.1', ' more')).toMatch(/^HTTP\/1\.1 417 .*expectation_failed/s);
  expect(await get('1.1', ' 100-continue, more')).toMatch(/^HTTP\/1\.1 417 /);
  expect(await get('1.0', ' more')).toMatch(/^HTTP\/1\.1 200 /);
  expect(await get('1.1', '')).toMatch(/^HTTP\/1\.1 200 /);
});

const POST = 'POST /v1/things HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 12\r\n';

test.each([
  ['a wrong media type', 'Content-Type: text/plain\r\n', 415],
  ['a repeated Authorization header', 'Authorization: a\r\nAuthorization: b\r\n', 400],
])('RFC 9110 §10.1.1: refuses %s without asking for the body, and closes', async (_title, header, status) => {
  const { port } = await startCounting();
  const answer = await sendRaw(port, `${POST}${header}\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*connection: close`, 'is'));
});

test('RFC 9110 §10.1.1: asks for the body when it is read, and keeps the connection', async () => {
  const { port } = await startCounting();
  const socket = connect(port, '127.0.0.1');
  socket.write(`${POST}Content-Type: application/json\r\n\r\n`);
  const [invitation] = await once(socket, 'data');
  expect(String(invitation)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('{"name":"x"}');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 201 (?!.*connection: close)/is);
  socket.destroy();
});

test('a handler sees one signal, which adds no listener to its response', async () => {
  const seen: unknown[] = [];
  const look = bind(testRoutes.listThings, async (context) => {
    const before = context.res.listenerCount('close');
    const { signal } = context;
    seen.push(context.signal === signal, context.res.listenerCount('close') - before, signal.aborted);
    return { status: 200, body: {} };
  });
  const { send } = await startTestApp({ bindings: [look] });
  await send('GET', '/v1/things');
  expect(seen).toEqual([true, 0, false]);
});

test.each([
  ['DELETE /v1/things', 405],
  ['GET /nowhere', 404],
  ['GET /v1/things/%zz', 404],
  ['OPTIONS /v1/things', 204],
])('answers %s with %i before the parser finds that no HTTP follows', async (start, status) => {
  const { port } = await startTestApp();
  const answer = await sendRaw(port, `${start} HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});
