import { readFile, writeFile } from 'node:fs/promises';
import { freePort, waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

const PAUSE_MS = 60_000;
const FAILURES_MAX = 3;
let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let token: string;
let nowMs = Date.now();

beforeAll(async () => {
  const environment = {
    ROUTE_IN_FLIGHT_MAX: '1',
    ROUTE_FAILURES_MAX: String(FAILURES_MAX),
    ROUTE_PAUSE_MS: String(PAUSE_MS),
  };
  [gateway, raw] = await Promise.all([startGateway({ environment, clock: () => nowMs }), startRawProvider()]);
  token = await gateway.tokens.accessToken();
  key = await createKey(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
beforeEach(() => gateway.provider.resetCounts());

const post = (path: string, credential: string, body: object) =>
  fetch(`${gateway.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const messages = (content: string) => [{ role: 'user', content }];
const chat = (content: string, more: object = {}) =>
  post('/chat/completions', key, { model: 'svc-chat', messages: messages(content), ...more });
const delegatedChat = (content: string) =>
  post('/integrations/inference/chat/completions', token, { messages: messages(content) });
const transcribe = () => {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(2_000)]), 'a.wav');
  return fetch(`${gateway.url}/v1/integrations/inference/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
};
const statusOf = async (answer: Promise<Response>): Promise<number> => {
  const { status, text } = await answer.then(async (got) => ({ status: got.status, text: await got.text() }));
  return text === '' ? 0 : status;
};
const metric = async (line: RegExp): Promise<string | undefined> =>
  line.exec(await (await fetch(`${gateway.internalUrl}/metrics`)).text())?.[1];

describe('a route that fails', () => {
  test('is paused, with 503 and Retry-After, until a probe is served', async () => {
    await useProviders(gateway, { failing: `${gateway.provider.url}/v1` });
    for (let count = 0; count < FAILURES_MAX; count += 1) expect(await statusOf(chat('[[status=500]]'))).toBe(503);
    const heldBack = await chat('Hello');
    expect([heldBack.status, heldBack.headers.get('retry-after')]).toEqual([503, String(PAUSE_MS / 1000)]);
    expect(JSON.parse(await heldBack.text()).error.code).toBe('upstream_unavailable');
    const delegated = await delegatedChat('Hello');
    expect([delegated.status, delegated.headers.get('retry-after')]).toEqual([503, String(PAUSE_MS / 1000)]);
    expect(gateway.provider.counts().requests).toBe(FAILURES_MAX);
    const { outcome } = await waitFor(() =>
      gateway.database
        .knex('usage_records')
        .where({ request_id: heldBack.headers.get('x-request-id') })
        .first(),
    );
    expect(outcome).toBe('released');
    expect(await metric(/^upstream_routes_paused\{[^}]*\} (\d+)/m)).toBe('1');
    expect(await metric(/^upstream_requests_held_back_total\{[^}]*reason="paused"[^}]*\} (\d+)/m)).toBe('2');
    nowMs += PAUSE_MS;
    expect(await statusOf(chat('Hello'))).toBe(200);
    expect(await metric(/^upstream_routes_paused\{[^}]*\} (\d+)/m)).toBe('0');
  });

  test('stays paused across a reload, and gets no requests while another route serves them', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const urls = { dead, alive: `${gateway.provider.url}/v1` };
    await useProviders(gateway, urls);
    for (let count = 0; count <= FAILURES_MAX; count += 1) expect(await statusOf(chat('Hello'))).toBe(200);
    await useProviders(gateway, urls);
    expect(await statusOf(delegatedChat('Hello'))).toBe(200);
    expect(await metric(/^upstream_route_pauses_total\{route="chat-dead"[^}]*\} (\d+)/m)).toBe('1');
    expect(await metric(/^upstream_requests_held_back_total\{route="chat-dead"[^}]*\} (\d+)/m)).toBe('2');
  });

  test('is not paused by invalid requests', async () => {
    await useProviders(gateway, { sandbox: `${gateway.provider.url}/v1` });
    for (let count = 0; count <= FAILURES_MAX; count += 1) expect(await statusOf(chat('[[status=400]]'))).toBe(400);
    expect(await statusOf(chat('Hello'))).toBe(200);
  });
});

describe('a route at its concurrency limit', () => {
  test('leaves requests to the next route, or returns 503', async () => {
    let finish = (): void => {};
    raw.handle = (_req, res) => {
      eventStream(res).write('data: {"id":"x","model":"sandbox-chat-1","choices":[]}\n\n');
      finish = () => res.end('data: [DONE]\n\n');
    };
    await useProviders(gateway, { raw: raw.url });
    const stream = await chat('Hello', { stream: true });
    expect(stream.status).toBe(200);
    const full = await chat('Hello');
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '1']);
    await full.text();
    await useProviders(gateway, { raw: raw.url, sandbox: `${gateway.provider.url}/v1` });
    expect(await statusOf(chat('Hello'))).toBe(200);
    expect(gateway.provider.counts().requests).toBe(1);
    finish();
    await stream.text();
    await waitFor(async () => (await metric(/^upstream_requests_in_flight\{[^}]*\} (\d+)/m)) === '0');
  });

  test('leaves uploads to the next route from the start', async () => {
    let finish = (): void => {};
    raw.handle = (_req, res) => {
      finish = () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Hi","duration":1}');
    };
    await useProviders(gateway, { raw: raw.url, sandbox: `${gateway.provider.url}/v1` });
    const bodiesBefore = raw.bodies.length;
    const first = statusOf(transcribe());
    await waitFor(() => raw.bodies.length > bodiesBefore);
    expect(await statusOf(transcribe())).toBe(200);
    expect(gateway.provider.counts().requests).toBe(1);
    finish();
    expect(await first).toBe(200);
  });
});

describe('a route whose certification expires', () => {
  test('during the attempt on another route is not tried', async () => {
    const dayMs = 86_400_000;
    const tomorrow = new Date(nowMs + dayMs).toISOString().slice(0, 10);
    raw.handle = (_req, res) => {
      nowMs = Date.parse(tomorrow);
      res.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
    };
    await useProviders(gateway, { raw: raw.url, sandbox: `${gateway.provider.url}/v1` });
    const text = await readFile(gateway.routesFile, 'utf8');
    await writeFile(gateway.routesFile, text.replaceAll(/expires_at: [\d-]+/g, `expires_at: ${tomorrow}`));
    expect(await gateway.reload()).toBe(true);
    const answer = await chat('Hello');
    expect([answer.status, JSON.parse(await answer.text()).error.code]).toEqual([503, 'upstream_unavailable']);
    expect(gateway.provider.counts().requests).toBe(0);
    expect(await statusOf(chat('Hello'))).toBe(503);
  });
});
