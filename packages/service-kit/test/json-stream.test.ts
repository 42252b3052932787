import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { AppError, bind, createInternalClient, sendJsonStream, type WriteText } from '../src/index.ts';
import { serve, startTestApp, testRoutes } from './support/test-app.ts';

const LARGE = 'x'.repeat(70 * 1024);

/** Serves a route that streams what `produce` writes. Returns its URL and whether the handler has ended. */
const startStream = async (produce: (write: WriteText) => Promise<void>, stalledMs?: number) => {
  const ended = Promise.withResolvers<void>();
  const binding = bind(testRoutes.listThings, async (context) => {
    try {
      return await sendJsonStream(context, produce, stalledMs === undefined ? {} : { stalledMs });
    } finally {
      ended.resolve();
    }
  });
  const { url, port, lines } = await startTestApp({ bindings: [binding], contract: [testRoutes.listThings] });
  return { url: `${url}/v1/things`, port, lines, ended: ended.promise };
};

test('streams a body in pieces', async () => {
  const { url } = await startStream(async (write) => {
    for (const piece of ['["', LARGE, '","', 'end', '"]']) await write(piece);
  });
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(await response.json()).toEqual([LARGE, 'end']);
});

test('answers a failure at the beginning with its status', async () => {
  const { url } = await startStream(async (write) => {
    await write('{"a":');
    throw new AppError('service_unavailable');
  });
  const response = await fetch(url);
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ detail: { code: 'service_unavailable' } });
});

test('ends the connection at a later failure, so that the body is incomplete', async () => {
  const { url } = await startStream(async (write) => {
    await write(LARGE);
    throw new AppError('service_unavailable');
  });
  const response = await fetch(url);
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
});

test('resets the connection of a reader without chunks, and logs the failure', async () => {
  const { port, lines } = await startStream(async (write) => {
    await write(LARGE);
    throw new Error('the database is gone');
  });
  const socket = connect(port, '127.0.0.1');
  const failed = once(socket, 'end').catch((error: unknown) => error);
  socket.resume().write('GET /v1/things HTTP/1.0\r\nhost: x\r\n\r\n');
  expect(await failed).toMatchObject({ code: 'ECONNRESET' });
  expect(lines.map(({ message }) => message)).toContain('request failed');
});

test('lets a reader go that stops reading', async () => {
  const { port, ended } = await startStream(async (write) => {
    for (;;) await write(LARGE);
  }, 100);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET /v1/things HTTP/1.1\r\nhost: x\r\n\r\n');
  await ended;
  socket.destroy();
});

test('a client of another service gets the pieces, and closes the connection when it stops early', async () => {
  const gone = Promise.withResolvers<void>();
  const { url } = await serve((_req, res) => {
    res.on('close', () => gone.resolve());
    res.writeHead(200, { 'content-type': 'application/json' });
    const more = setInterval(() => res.write(LARGE), 5);
    res.on('close', () => clearInterval(more));
  });
  const client = createInternalClient({ baseUrl: url, token: 'auth:x', timeoutMs: 5_000 });
  for await (const piece of await client.stream(testRoutes.listThings, { query: {} })) {
    expect(piece).toContain('x');
    break;
  }
  await gone.promise;
  await client.close();
});

test('a client of another service throws what the other service refuses with', async () => {
  const { url } = await serve((_req, res) => {
    res.writeHead(503, { 'content-type': 'application/json' }).end('{}');
  });
  const client = createInternalClient({ baseUrl: url, token: 'auth:x', timeoutMs: 5_000 });
  await expect(client.stream(testRoutes.listThings, { query: {} })).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  await client.close();
});

test('a client of another service throws if the answer breaks off', async () => {
  const { url } = await serve((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.write(LARGE, () => res.destroy());
  });
  const client = createInternalClient({ baseUrl: url, token: 'auth:x', timeoutMs: 5_000 });
  const pieces = await client.stream(testRoutes.listThings, { query: {} });
  const readAll = async () => {
    for await (const piece of pieces) expect(piece).toContain('x');
  };
  await expect(readAll()).rejects.toMatchObject({ code: 'service_unavailable' });
  await client.close();
});

test('a client gives a stream as long as its pieces come, and ends it at a pause beyond its timeout', async () => {
  const pauseMs = 60;
  const { url } = await serve(async (_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    for (let piece = 0; piece < 12; piece += 1) {
      res.write('x');
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  });
  const client = createInternalClient({ baseUrl: url, token: 'auth:x', timeoutMs: 6 * pauseMs });
  let text = '';
  const reading = (async () => {
    for await (const piece of await client.stream(testRoutes.listThings, { query: {} })) text += piece;
  })();
  await expect(reading).rejects.toThrow();
  expect(text).toBe('x'.repeat(12));
  await client.close();
});
