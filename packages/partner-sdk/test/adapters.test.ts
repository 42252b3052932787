import { createServer, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import express from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createMemoryWebhookStore,
  createWebhookReceiver,
  expressWebhook,
  fastifyWebhook,
  fetchWebhook,
  honoWebhook,
  type WebhookReceiver,
} from '../src/server.ts';
import { CLIENT_ID, deliveryOf, SECRET, testEvent } from './support/deliveries.ts';
import { listen } from './support/listen.ts';

const PATH = '/webhooks';
let handled: string[];
let stops: (() => Promise<unknown>)[];

afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
});

const receiver = (fails = false): WebhookReceiver => {
  handled = [];
  stops = [];
  return createWebhookReceiver({
    secret: SECRET,
    clientId: CLIENT_ID,
    store: createMemoryWebhookStore(),
    handle: async (event) => {
      if (fails) throw new Error('the handler failed');
      handled.push(event.event_id);
    },
  });
};

const post = async (base: string, event: object, more: Record<string, string> = {}): Promise<Response> => {
  const delivery = deliveryOf(event);
  const headers = { 'content-type': 'application/json', 'x-svc-signature': String(delivery.headers), ...more };
  return await fetch(base + PATH, { method: 'POST', headers, body: String(delivery.rawBody) });
};

const serve = async (app: express.Express): Promise<string> => {
  const { url, stop } = await listen(app);
  stops.push(stop);
  return url;
};

const serveFastify = async (app: FastifyInstance): Promise<string> => {
  stops.push(() => app.close());
  return await app.listen({ port: 0, host: '127.0.0.1' });
};

/** Serves a handler of `Request` and `Response`, as their frameworks do. */
const toNodeHandler =
  (handle: (request: Request) => Promise<Response>): RequestListener =>
  async (incoming, outgoing) => {
    const body = incoming.method === 'POST' ? await buffer(incoming) : null;
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const request = new Request(`http://127.0.0.1${incoming.url}`, { method: incoming.method ?? 'GET', headers, body });
    const answer = await handle(request).catch(() => new Response(null, { status: 500 }));
    outgoing.writeHead(answer.status).end(await answer.text());
  };

/** Silences the default error handler of Express, which prints stacks. */
const quiet: express.ErrorRequestHandler = (error: Error, _request, response, _next) => {
  response.status(500).send(error.message);
};

const servers: Record<string, (built: WebhookReceiver) => Promise<string>> = {
  'Express, on its own': (built) => serve(express().post(PATH, expressWebhook(built)).use(quiet)),
  'Express, behind express.raw()': (built) =>
    serve(
      express()
        .post(PATH, express.raw({ type: '*/*', limit: '2mb' }), expressWebhook(built))
        .use(quiet),
    ),
  'Express, before express.json()': (built) =>
    serve(express().post(PATH, expressWebhook(built)).use(express.json(), quiet)),
  'node:http': async (built) => {
    const handler = expressWebhook(built);
    const { url, stop } = await listen((request, response) => void handler(request, response));
    stops.push(stop);
    return url;
  },
  'Request and Response': async (built) => {
    const { url, stop } = await listen(toNodeHandler(fetchWebhook(built)));
    stops.push(stop);
    return url;
  },
  Hono: async (built) => {
    const app = new Hono().post(PATH, honoWebhook(built));
    const { url, stop } = await listen(toNodeHandler(async (request) => await app.fetch(request)));
    stops.push(stop);
    return url;
  },
  Fastify: (built) => serveFastify(fastify().register(fastifyWebhook(built), { path: PATH })),
};

describe.each(Object.entries(servers))('%s', (_name, start) => {
  test('returns 204 for an event and for its repetition', async () => {
    const url = await start(receiver());
    for (const _ of [1, 2]) expect((await post(url, testEvent(1))).status).toBe(204);
    expect(handled).toEqual(['evt_1']);
  });

  test('passes the bytes on unchanged, spaces and non-ASCII letters included', async () => {
    const url = await start(receiver());
    const event = { ...testEvent(1), data: { message: '  è 🦆 \u2028 ' } };
    expect((await post(url, event)).status).toBe(204);
  });

  test('rejects an unsigned request of any content type', async () => {
    const url = await start(receiver());
    const missing = await fetch(url + PATH, { method: 'POST', body: '{' });
    expect([missing.status, await missing.text()]).toEqual([401, 'signature_missing']);
    const mismatch = await post(url, testEvent(1), { 'x-svc-signature': `t=1,v1=${'0'.repeat(64)}` });
    expect([mismatch.status, await mismatch.text()]).toEqual([401, 'signature_mismatch']);
    const empty = await fetch(url + PATH, { method: 'POST' });
    expect(empty.status).toBe(401);
    expect(handled).toEqual([]);
  });

  test('returns 413 for an oversized body', async () => {
    const url = await start(receiver());
    const body = 'x'.repeat(1024 * 1024 + 1);
    const headers = { 'x-svc-signature': `t=1,v1=${'0'.repeat(64)}` };
    expect((await fetch(url + PATH, { method: 'POST', headers, body })).status).toBe(413);
  });

  test('returns 500 when the handler fails', async () => {
    const url = await start(receiver(true));
    expect((await post(url, testEvent(1))).status).toBe(500);
  });
});

describe('around the adapters', () => {
  test('Express, after express.json(): reports the misplaced parser instead of rejecting every event', async () => {
    const url = await serve(express().use(express.json()).post(PATH, expressWebhook(receiver())).use(quiet));
    const answer = await post(url, testEvent(1));
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('before express.json()')]);
  });

  test('Fastify: other routes still parse JSON', async () => {
    const app = fastify();
    app.register(fastifyWebhook(receiver()), { path: PATH });
    app.post('/other', async (request) => request.body);
    const url = await serveFastify(app);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/other`, { method: 'POST', headers, body: '{"a":1}' });
    expect(await answer.json()).toEqual({ a: 1 });
  });

  test('node:http runs the handler unchanged', async () => {
    const server = createServer(expressWebhook(receiver()));
    expect(server.listenerCount('request')).toBe(1);
  });
});
