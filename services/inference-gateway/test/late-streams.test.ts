import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, waitFor } from '@svc/testing';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

/** Streams of providers that think for longer than a caller may wait without a byte. */

const KEEP_ALIVE_MS = 60;
/** Several periods of silence. */
const THINKING_MS = 300;
const COMMENT = ': keep-alive\n\n';
let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let token: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([
    startGateway({ environment: { STREAM_KEEP_ALIVE_MS: String(KEEP_ALIVE_MS), UPSTREAM_IDLE_TIMEOUT_MS: '2000' } }),
    startRawProvider(),
  ]);
  token = await gateway.tokens.accessToken();
  key = await createKey(gateway);
});
beforeEach(() => useProviders(gateway, { raw: raw.url }));
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});

const DELEGATED = '/v1/integrations/inference/chat/completions';
const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';

/** Asks for a stream. Returns when its head is there, with a promise of its whole text. */
const ask = async (path: string, headers: Record<string, string> = {}) => {
  const body = path === RESPONSES ? { input: 'Hi' } : { messages: [{ role: 'user', content: 'Hi' }] };
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${path === DELEGATED ? token : key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ ...body, stream: true, ...(path === DELEGATED ? {} : { model: 'svc-chat' }) }),
  });
  return { answer, status: answer.status, text: answer.text() };
};
const outcomeOf = async (answer: Response): Promise<string> => {
  const id = answer.headers.get('x-request-id');
  return (await waitFor(() => gateway.database.knex('usage_records').where({ request_id: id }).first())).outcome;
};

const answerWith = (model: string): string =>
  `data: {"id":"c","model":"${model}","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\ndata: [DONE]\n\n`;
const SERVED = answerWith('sandbox-chat-1');

/** Sends the head, stays silent, then sends the text. Returns whether it has sent it. */
const think = (text: string, headers: Record<string, string> = { 'x-request-id': 'upstream-1' }) => {
  const sent = { isOver: false };
  raw.handle = async (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).flushHeaders();
    await sleep(THINKING_MS);
    sent.isOver = true;
    res.end(text);
  };
  return sent;
};

describe('a stream for an app', () => {
  test('starts before its provider has answered at all, and stays alive', async () => {
    let isOver = false;
    raw.handle = async (_req, res) => {
      await sleep(THINKING_MS);
      isOver = true;
      eventStream(res).end(SERVED);
    };
    const { answer, status, text } = await ask(DELEGATED);
    expect([status, isOver]).toEqual([200, false]);
    const sent = await text;
    expect(sent.startsWith(`${COMMENT}${COMMENT}`)).toBe(true);
    expect(sent.replaceAll(COMMENT, '')).toMatch(/^data: \{.*\n\ndata: \[DONE\]\n\n$/);
    expect(await outcomeOf(answer)).toBe('settled');
  });

  test('stays alive between two events', async () => {
    const [first = '', end = ''] = SERVED.split('data: [DONE]');
    raw.handle = async (_req, res) => {
      eventStream(res).write(first.replace('"stop"', 'null'));
      await sleep(THINKING_MS);
      res.end(`${first}data: [DONE]${end}`);
    };
    const { text } = await ask(DELEGATED);
    expect((await text).split('\n\n').filter((block) => block === ': keep-alive').length).toBeGreaterThan(1);
  });

  test.each([
    [502, 'upstream_error', 'released'],
    [200, 'upstream_timeout_uncertain', 'uncertain'],
  ])('ends with an error event after status %i without an answer', async (status, code, outcome) => {
    raw.handle = async (_req, res) => {
      await sleep(THINKING_MS);
      if (status === 200) eventStream(res).end();
      else res.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
    };
    const { answer, status: seen, text } = await ask(DELEGATED);
    expect(seen).toBe(200);
    const sent = (await text).replaceAll(COMMENT, '');
    expect(JSON.parse(sent.slice('data: '.length))).toEqual({ error: { code, message: expect.any(String) } });
    expect(await outcomeOf(answer)).toBe(outcome);
  });

  test('is served by the next route after it has started', async () => {
    raw.handle = async (req, res) => {
      if (req.url?.startsWith('/second')) return void eventStream(res).end(SERVED);
      await sleep(THINKING_MS);
      res.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
    };
    await useProviders(gateway, { first: raw.url, second: `${raw.url}/second` });
    const { status, text } = await ask(DELEGATED);
    expect([status, (await text).endsWith('data: [DONE]\n\n')]).toEqual([200, true]);
  });

  test('is read by the openai SDK', async () => {
    think(SERVED);
    const client = new OpenAI({ apiKey: token, baseURL: `${gateway.url}/v1/integrations/inference`, maxRetries: 0 });
    const stream = await client.chat.completions.create({
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
      ...({} as { model: string }),
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('Hi');
  });
});

describe.each([CHAT, RESPONSES])('a stream for an API key, at %s', (path) => {
  test('starts with the model of its route once the provider has sent a request id', async () => {
    const provider = think(answerWith('sandbox-chat-1-2026-06-01'));
    const { answer, status, text } = await ask(path);
    expect([status, provider.isOver]).toEqual([200, false]);
    expect(answer.headers.get('x-svc-compliance-model')).toBe('sandbox-chat-1');
    expect(answer.headers.get('x-svc-compliance-upstream-request-id')).toBe('upstream-1');
    const sent = await text;
    expect(sent.startsWith(COMMENT)).toBe(true);
    expect(sent).toContain('"model":"sandbox-chat-1-2026-06-01"');
    expect(sent).toContain(`"timestamp":"${answer.headers.get('x-svc-compliance-timestamp')}"`);
    expect(await outcomeOf(answer)).toBe('settled');
  });

  test('ends with an error event and costs nothing if its answer names another model', async () => {
    think(answerWith('other'));
    const { answer, status, text } = await ask(path);
    expect(status).toBe(200);
    expect(await text).toContain('provider_attribution_ambiguous');
    expect(await outcomeOf(answer)).toBe('settled');
    const id = answer.headers.get('x-request-id');
    expect(await gateway.database.knex('usage_records').where({ request_id: id }).first()).toMatchObject({
      cost_micros: 0,
    });
  });

  test('is not served by another route after its headers have named the first', async () => {
    let others = 0;
    raw.handle = async (req, res) => {
      if (req.url?.startsWith('/second')) {
        others += 1;
        return void eventStream(res).end(SERVED);
      }
      eventStream(res).flushHeaders();
      await sleep(THINKING_MS);
      res.end('data: {"error":{"message":"no"}}\n\n');
    };
    await useProviders(gateway, { first: raw.url, second: `${raw.url}/second` });
    const { answer, status, text } = await ask(path);
    expect([status, (await text).includes('upstream_unavailable'), others]).toEqual([200, true, 0]);
    expect(await outcomeOf(answer)).toBe('released');
  });

  test('waits for its first event if the provider sends no request id', async () => {
    const provider = think(SERVED, {});
    const { status, answer } = await ask(path);
    expect([status, provider.isOver]).toEqual([200, true]);
    expect(answer.headers.get('x-svc-compliance-upstream-request-id')).toBe('c');
  });

  test('waits for the head of its provider, whose failure is a status', async () => {
    raw.handle = async (_req, res) => {
      await sleep(THINKING_MS);
      res.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
    };
    expect((await ask(path)).status).toBe(503);
    await useProviders(gateway, { closed: `http://127.0.0.1:${await freePort()}` });
    expect((await ask(path)).status).toBe(503);
  });
});

test('in mode `headers`, a stream starts early, but has the bytes of the provider alone', async () => {
  const provider = think(SERVED);
  const { answer, status, text } = await ask(CHAT, { 'x-svc-compliance': 'headers' });
  expect([status, provider.isOver]).toEqual([200, false]);
  expect(answer.headers.get('x-svc-compliance-model')).toBe('sandbox-chat-1');
  expect(await text).toBe(SERVED);
});
