import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Binding, bind } from '../src/index.ts';
import { startTestApp, testBindings, testRoutes } from './support/test-app.ts';

const LONG = 'a long word '.repeat(200);
const session = { authorization: 'Bearer session-personal' };

const bindings: Binding[] = [
  ...testBindings.filter(({ route }) => route !== testRoutes.getThing && route !== testRoutes.authorizePage),
  bind(testRoutes.getThing, async ({ params }) => ({
    status: 200,
    body: { thing_id: params.thing_id, text: params.thing_id === 'long' ? LONG : '' },
    headers: { vary: 'Cookie' },
  })),
  bind(testRoutes.authorizePage, async () => ({ status: 200, body: LONG, contentType: 'text/html; charset=utf-8' })),
];

/** Reads the bytes of a response as they come; `fetch` would decompress them. */
const get = (port: number, path: string, headers: Record<string, string>) =>
  new Promise<{ headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>((resolve, reject) => {
    const sent = request({ port, path, headers, host: '127.0.0.1' }, async (res) => {
      resolve({ headers: res.headers, bytes: Buffer.concat(await res.toArray()) });
    });
    sent.on('error', reject).end();
  });

test('compresses a long body for a browser that accepts it, and says what the body depends on', async () => {
  const { port } = await startTestApp({ bindings });
  const { headers, bytes } = await get(port, '/v1/things/long', { ...session, 'accept-encoding': 'br, gzip' });
  expect(headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-length': String(bytes.length),
    'content-type': 'application/json; charset=utf-8',
    vary: 'Cookie, Accept-Encoding',
  });
  expect(JSON.parse(gunzipSync(bytes).toString())).toEqual({ thing_id: 'long', text: LONG });
  expect(bytes.length).toBeLessThan(LONG.length / 10);
});

test.each([
  ['a client that names no encoding', '/v1/things/long', session],
  ['a client that refuses gzip', '/v1/things/long', { ...session, 'accept-encoding': 'gzip;q=0, br' }],
  ['a body of one packet', '/v1/things/short', { ...session, 'accept-encoding': 'gzip' }],
  [
    'the authorize page, whose length must not betray the address on it',
    '/v1/oauth/authorize?client_id=c&state=0123456789abcdef',
    { 'accept-encoding': 'gzip' },
  ],
])('leaves the body plain for %s', async (_case, path, headers) => {
  const { port } = await startTestApp({ bindings });
  const answer = await get(port, path, headers);
  expect(answer.headers['content-encoding']).toBeUndefined();
  expect(answer.bytes.toString()).toMatch(/^[{a]/);
});
