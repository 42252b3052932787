import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

/** Large and adversarial JSON from callers and providers. Its shape is limited, and workers read it. */

const MEBIBYTE = 1024 * 1024;
let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let token: string;
const userId = newId('usr');

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  key = await createKey(gateway, { userId });
  token = await gateway.tokens.accessToken();
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
afterEach(async () => {
  gateway.billing.standing = () => ({ verdict: 'admitted' });
  gateway.billing.outage = undefined;
  raw.bodies.length = 0;
  await useProviders(gateway, { sandbox: `${gateway.provider.url}/v1` });
});

const ENDPOINTS = [
  ['an API key', '/v1/chat/completions', () => key],
  ['an app', '/v1/integrations/inference/chat/completions', () => token],
] as const;

const post = (path: string, credential: string, body: string | ReadableStream): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body,
    ...(typeof body === 'string' ? {} : { duplex: 'half' }),
  });
const chat = (body: string | ReadableStream): Promise<Response> => post('/v1/chat/completions', key, body);
const codeOf = async (answer: Response): Promise<string> => {
  const body = JSON.parse(await answer.text());
  return (body.error ?? body.detail).code;
};
const messages = (items: string): string => `{"model":"svc-chat","messages":[${items}]}`;
const answerOf = (more: object = {}): string =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'sandbox-chat-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    ...more,
  });
const playAnswer = (text: string): void => {
  raw.handle = (_req, res) =>
    res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' }).end(text);
};

describe.each(ENDPOINTS)('a body of %s', (_name, path, credential) => {
  const send = (body: string | ReadableStream) => post(path, credential(), body);
  const SHAPES = [
    ['10 million empty objects', `{"messages":[${'{},'.repeat(10_000_000)}{}]}`],
    ['2 million keys', `{"messages":[{}],${Array.from({ length: 2_000_000 }, (_, n) => `"k${n}":1`).join(',')}}`],
    ['500,001 values', `{"messages":[${'{},'.repeat(499_998)}{}]}`],
    ['65 levels', `{"messages":[{"content":${'['.repeat(62)}${']'.repeat(62)}}]}`],
  ] as const;

  test.each(SHAPES)('returns 413 payload_too_complex for %s', async (_shape, body) => {
    const answer = await send(body);
    expect(answer.status).toBe(413);
    expect(await codeOf(answer)).toBe('payload_too_complex');
  });

  test('rejects a complex body before its end', async () => {
    let pieces = 0;
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('{"messages":[')),
      pull: (controller) => {
        pieces += 1;
        controller.enqueue(Buffer.from('{},'.repeat(20_000)));
      },
    });
    const answer = await send(endless);
    expect(await codeOf(answer)).toBe('payload_too_complex');
    expect(pieces * 60_000).toBeLessThan(32 * MEBIBYTE);
  });

  test('returns 413 payload_too_large beyond 32 MiB, regardless of the shape', async () => {
    const answer = await send(`{"messages":[{"content":"${'x'.repeat(32 * MEBIBYTE)}"}]}`);
    expect(await codeOf(answer)).toBe('payload_too_large');
  });

  test.each([
    ['blanks', ' '.repeat(8 * MEBIBYTE)],
    ['a long string without an end', `{"messages":["${'\\"'.repeat(4 * MEBIBYTE)}`],
    ['brackets that do not match', `[${'}'.repeat(200_000)}`],
  ])('returns the error of invalid JSON for %s', async (_shape, body) => {
    const answer = await send(body);
    expect(answer.status).toBe(path.includes('integrations') ? 422 : 400);
    expect(await answer.text()).toContain('JSON decode error');
  });

  test('forwards every byte of a large valid body', async () => {
    await useProviders(gateway, { raw: `${raw.url}/v1` });
    playAnswer(answerOf());
    const model = path.includes('integrations') ? '' : '"model":"svc-chat",';
    const rest = `"messages":[${'{ "role":"user", "content":"\\u00e9x" },'.repeat(100_000)}{"role":"user"}],"stop" : null}`;
    const answer = await send(`{${model}${rest}`);
    expect(answer.status).toBe(200);
    expect(raw.bodies[0]?.toString()).toBe(`{"model":"sandbox-chat-1",${rest}`);
  });
});

describe('a key without available balance', () => {
  const sendHead = async (more: Record<string, string>, begun = '') => {
    const req = httpRequest(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more },
    });
    req.on('error', () => {});
    if (begun === '') req.flushHeaders();
    else req.write(begun);
    const [res] = await once(req, 'response');
    req.destroy();
    return res.statusCode;
  };
  const expectRefusal = async (status: number): Promise<void> => {
    expect(await sendHead({ 'content-length': String(30 * MEBIBYTE) })).toBe(status);
    expect(await sendHead({ 'content-length': '100' })).toBe(status);
    expect(await sendHead({ 'content-length': '100' }, '{"model"')).toBe(status);
    expect(await sendHead({ 'transfer-encoding': 'chunked' })).toBe(status);
  };

  test('gets 402 before its body is read, even if it was admitted before', async () => {
    expect((await chat(messages('{"role":"user","content":"Hi"}'))).status).toBe(200);
    gateway.billing.decide = () => ({ verdict: 'insufficient_balance' });
    expect((await chat(messages('{"role":"user","content":"Hi"}'))).status).toBe(402);
    gateway.billing.standing = () => ({ verdict: 'insufficient_balance' });
    await expectRefusal(402);
    gateway.billing.decide = () => ({ verdict: 'admitted' });
  });

  test.each([
    ['invalid JSON', '{'],
    ['no messages', '{"model":"svc-chat"}'],
    ['an unknown model', '{"model":"none","messages":[{"role":"user","content":"Hi"}]}'],
  ])('gets 402 before a small body is judged: %s', async (_fault, body) => {
    const valid = await chat(body);
    expect([400, 404]).toContain(valid.status);
    gateway.billing.standing = () => ({ verdict: 'insufficient_balance', available_micros: 0 });
    const refused = await chat(body);
    expect(refused.status).toBe(402);
    const { error } = JSON.parse(await refused.text());
    expect(error).toMatchObject({ code: 'insufficient_balance', available_micros: 0, needed_micros: null });
    gateway.billing.outage = 500;
    expect((await chat(body)).status).toBe(valid.status);
  });

  test('is probed by no second call if a small body has arrived with its head', async () => {
    let probes = 0;
    gateway.billing.standing = () => {
      probes += 1;
      return { verdict: 'admitted' };
    };
    expect((await chat(messages('{"role":"user","content":"Hi"}'))).status).toBe(200);
    expect(probes).toBe(0);
  });

  test('is served as soon as it has balance', async () => {
    gateway.billing.standing = () => ({ verdict: 'insufficient_balance' });
    gateway.billing.decide = () => ({ verdict: 'insufficient_balance' });
    await chat(messages('{"role":"user","content":"Hi"}'));
    gateway.billing.standing = () => ({ verdict: 'admitted' });
    gateway.billing.decide = () => ({ verdict: 'admitted' });
    expect((await chat(messages('{"role":"user","content":"Hi"}'))).status).toBe(200);
  });

  test('or beyond its rate limit gets 429 before its body is read', async () => {
    gateway.billing.decide = () => ({ verdict: 'insufficient_balance' });
    await chat(messages('{"role":"user","content":"Hi"}'));
    gateway.billing.decide = () => ({ verdict: 'admitted' });
    gateway.billing.standing = () => ({ verdict: 'rate_limit_exceeded', minute_ends_in_ms: 30_000 });
    await expectRefusal(429);
  });
});

describe("a provider's answer", () => {
  const complex = (): string => `{"choices":[${'{},'.repeat(5_000_000)}{}]}`;

  test.each(ENDPOINTS)(
    'with too many values returns 502 without a retry, and is charged, for %s',
    async (_name, path, credential) => {
      await useProviders(gateway, { raw: `${raw.url}/v1` });
      playAnswer(complex());
      const answer = await post(
        path,
        credential(),
        '{"model":"svc-chat","messages":[{}]}'.replace(path.includes('integrations') ? '"model":"svc-chat",' : '', ''),
      );
      expect(answer.status).toBe(502);
      expect(answer.headers.get('x-should-retry')).toBe('false');
      const text = await answer.text();
      expect(text).toContain('upstream_error');
      expect(text).not.toContain('Nothing was billed');
      expect(raw.bodies).toHaveLength(1);
      const id = answer.headers.get('x-request-id') ?? '';
      const record = await waitFor(() => gateway.database.knex('usage_records').where({ request_id: id }).first());
      expect(record).toMatchObject({ outcome: 'settled', is_estimated: true, status: 502 });
      expect(record.cost_micros).toBeGreaterThan(0);
    },
  );

  test('to a recording with too many values returns 502 without a retry, and the frames are charged', async () => {
    await useProviders(gateway, { raw: `${raw.url}/v1` });
    playAnswer(`{"text":"x","segments":[${'{},'.repeat(600_000)}{}]}`);
    const body = new FormData();
    body.set(
      'file',
      new Blob([
        await readFile(new URL('../src/delegated-requests/transcription/audio/fixtures/a.mp3', import.meta.url)),
      ]),
      'a.mp3',
    );
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${gateway.url}/v1/integrations/inference/audio/transcriptions`, {
      method: 'POST',
      headers,
      body,
    });
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
    const id = answer.headers.get('x-request-id') ?? '';
    const record = await waitFor(() => gateway.database.knex('usage_records').where({ request_id: id }).first());
    expect(record).toMatchObject({ audio_ms: 3_384, outcome: 'settled', status: 502 });
  });

  test.each(ENDPOINTS)('of several megabytes is relayed, for %s', async (_name, path, credential) => {
    await useProviders(gateway, { raw: `${raw.url}/v1` });
    const content = 'é'.repeat(2 * MEBIBYTE);
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    playAnswer(answerOf({ choices }));
    const body = path.includes('integrations') ? '{"messages":[{}]}' : messages('{}');
    const answer = await post(path, credential(), body);
    expect(answer.status).toBe(200);
    const shown = JSON.parse(await answer.text());
    expect(shown.choices[0].message.content === content).toBe(true);
    if (!path.includes('integrations')) expect(shown.extensions.compliance_metadata.model).toBe('sandbox-chat-1');
  });

  test.each([
    ['values', `[${'{},'.repeat(500_000)}{}]`],
    ['levels', `${'['.repeat(2_000)}${']'.repeat(2_000)}`],
    ['levels, in a large event', `[${'['.repeat(64)}"${'x'.repeat(200_000)}"${']'.repeat(64)}]`],
  ])('is a 502 if the first event of a stream has too many %s, and breaks off at a later one', async (_, choices) => {
    await useProviders(gateway, { raw: `${raw.url}/v1` });
    const chunk = (list: string): string => `data: {"model":"sandbox-chat-1","choices":${list}}\n\n`;
    const ask = () => chat('{"model":"svc-chat","stream":true,"messages":[{}]}');
    raw.handle = (_req, res) => eventStream(res).end(`${chunk(choices)}data: [DONE]\n\n`);
    const refused = await ask();
    expect(refused.status).toBe(502);
    expect(await codeOf(refused)).toBe('upstream_error');
    raw.handle = (_req, res) => {
      eventStream(res).end(`${chunk('[{"delta":{"content":"Hi"}}]')}${chunk(choices)}data: [DONE]\n\n`);
    };
    const shown = await (await ask()).text();
    expect(shown).toContain('upstream_timeout_uncertain');
    expect(shown).not.toContain('[DONE]');
  });
});

describe('a repeated member is ambiguous', () => {
  const AMBIGUOUS = [
    ['model', '{"id":"a","model":"sandbox-chat-1","choices":[],"model":"sandbox-chat-1"}'],
    ['an escaped model', '{"id":"a","model":"other","choices":[],"mod\\u0065l":"sandbox-chat-1"}'],
    ['id', '{"id":"a","id":"b","model":"sandbox-chat-1","choices":[]}'],
    ['choices', '{"id":"a","model":"sandbox-chat-1","choices":[],"choices":[]}'],
    ['usage', '{"id":"a","model":"sandbox-chat-1","choices":[],"usage":null,"usage":{"prompt_tokens":1}}'],
    [
      'a count of usage',
      '{"id":"a","model":"sandbox-chat-1","choices":[],"usage":{"prompt_tokens":1,"prompt_tokens":2}}',
    ],
    ['extensions', '{"id":"a","model":"sandbox-chat-1","choices":[],"extensions":{},"extensions":{}}'],
    [
      'compliance metadata',
      '{"id":"a","model":"sandbox-chat-1","choices":[],"extensions":{"compliance_metadata":1,"compliance_metadata":2}}',
    ],
  ] as const;

  test.each(AMBIGUOUS)('in a JSON answer: %s', async (_name, text) => {
    await useProviders(gateway, { raw: `${raw.url}/v1` });
    playAnswer(text);
    const answer = await chat(messages('{}'));
    expect(answer.status).toBe(502);
    expect(await codeOf(answer)).toBe('provider_attribution_ambiguous');
  });

  test.each(AMBIGUOUS)('in the first chunk of a stream: %s', async (_name, text) => {
    await useProviders(gateway, { raw: `${raw.url}/v1` });
    raw.handle = (_req, res) => eventStream(res).end(`data: ${text}\n\ndata: [DONE]\n\n`);
    const answer = await chat('{"model":"svc-chat","stream":true,"messages":[{}]}');
    expect(answer.status).toBe(502);
    expect(await codeOf(answer)).toBe('provider_attribution_ambiguous');
  });

  test.each(AMBIGUOUS)('in a later chunk of a stream: %s', async (_name, text) => {
    await useProviders(gateway, { raw: `${raw.url}/v1` });
    const first = '{"id":"a","model":"sandbox-chat-1","choices":[{"delta":{"content":"Hi"}}]}';
    raw.handle = (_req, res) => eventStream(res).end(`data: ${first}\n\ndata: ${text}\n\ndata: [DONE]\n\n`);
    const answer = await chat('{"model":"svc-chat","stream":true,"messages":[{}]}');
    const shown = await answer.text();
    expect(shown).toContain('provider_attribution_ambiguous');
    expect(shown).not.toContain('[DONE]');
  });
});
