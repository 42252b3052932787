import { chatCompletionSchema } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

/** Answers that lack what our own contract requires, or contain what only the gateway may write. */

let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let token: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  token = await gateway.tokens.accessToken();
  key = await createKey(gateway);
});
beforeEach(() => useProviders(gateway, { raw: raw.url }));
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});

const DELEGATED = '/v1/integrations/inference/chat/completions';
const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${path === DELEGATED ? token : key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return { answer, status: answer.status, text: await answer.text() };
};
const messages = [{ role: 'user' as const, content: 'Hi' }];
const ask = (stream: boolean) => post(DELEGATED, { messages, stream, stream_options: { include_usage: true } });
const outcomeOf = async (answer: Response): Promise<string> => {
  const id = answer.headers.get('x-request-id');
  return (await waitFor(() => gateway.database.knex('usage_records').where({ request_id: id }).first())).outcome;
};

const USAGE = '"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}';
const playJson = (text: string): void => {
  raw.handle = (_req, res) =>
    res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' }).end(text);
};
const playChoice = (choice: string): void =>
  playJson(`{"id":"a","model":"sandbox-chat-1","choices":[${choice}],${USAGE}}`);
/** Streams chunks with these choices, then the usage. */
const playChunks = (...chunks: string[]): void => {
  const events = chunks.map((choices) => `data: {"id":"c","model":"sandbox-chat-1","choices":[${choices}]}\n\n`);
  const usage = `data: {"id":"c","model":"sandbox-chat-1","choices":[],${USAGE}}\n\n`;
  raw.handle = (_req, res) => eventStream(res).end(`${events.join('')}${usage}data: [DONE]\n\n`);
};
const END = '{"index":0,"delta":{},"finish_reason":"stop"}';

const chunkSchema = z.object({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  created: z.int(),
  model: z.literal('svc'),
  choices: z.array(
    z.object({
      index: z.int(),
      finish_reason: z.string().nullable(),
      delta: z.object({
        content: z.string().nullish(),
        tool_calls: z
          .array(z.looseObject({ index: z.int(), function: z.object({ arguments: z.string().optional() }).loose() }))
          .optional(),
      }),
    }),
  ),
});
const chunksOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('data: {'))
    .map((block) => chunkSchema.loose().parse(JSON.parse(block.slice('data: '.length))));

describe('a completion for an app', () => {
  test.each([
    ['no index', '{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}'],
    ['no finish reason', '{"index":0,"message":{"role":"assistant","content":"Hi"}}'],
    ['a null role', '{"index":0,"message":{"role":null,"content":"Hi"},"finish_reason":""}'],
    [
      'content in parts, some of them reasoning',
      '{"index":0,"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"H"},{"type":"text","text":"i"}]},"finish_reason":"stop"}',
    ],
  ])('is completed if it has %s', async (_name, choice) => {
    playChoice(choice);
    const { status, text } = await ask(false);
    expect(status).toBe(200);
    const { choices } = chatCompletionSchema.parse(JSON.parse(text));
    expect(choices).toMatchObject([{ index: 0, message: { role: 'assistant', content: 'Hi' } }]);
  });

  test('has the arguments of a call as the text that the provider wrote, and an id for each call', async () => {
    const args = '{ "b":9007199254740993,"a":1.0,"2":1e400, "1":[], "a":"é" }';
    playChoice(`{"message":{"tool_calls":[{"function":{"name":"f","arguments":${args}}},{"function":{"name":"g"}}]}}`);
    const { choices } = JSON.parse((await ask(false)).text);
    const [first, second] = choices[0].message.tool_calls;
    expect(first).toEqual({
      id: expect.stringMatching(/^call_/),
      type: 'function',
      function: { name: 'f', arguments: args },
    });
    expect(second).toMatchObject({ type: 'function', function: { name: 'g', arguments: '{}' } });
    expect(second.id).not.toBe(first.id);
    expect(choices[0].message.content).toBeNull();
  });

  test.each([
    ['a choice without a message', `{"id":"a","choices":[{"index":0}],${USAGE}}`],
    ['two choices that may have the same index', `{"choices":[{"index":1,"message":{}},{"message":{}}],${USAGE}}`],
    ['a call without a function', `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"c"}]}}],${USAGE}}`],
  ])('with %s is an error of the provider that costs nothing', async (_name, body) => {
    playJson(body);
    const { answer, status, text } = await ask(false);
    expect([status, JSON.parse(text).detail.code]).toEqual([502, 'upstream_error']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await outcomeOf(answer)).toBe('released');
    expect(raw.bodies.length).toBeGreaterThan(0);
  });
});

describe('a stream for an app', () => {
  test('has an object as every delta, an index for every choice, and a finish reason or null', async () => {
    playChunks(
      '{"delta":{"content":"H"}}',
      '{"index":0,"delta":{"content":[{"type":"text","text":"i"}]}}',
      '{"index":0,"delta":null,"finish_reason":"stop"}',
      '{"finish_reason":"stop"}',
    );
    const { text } = await ask(true);
    expect(chunksOf(text).flatMap(({ choices }) => choices)).toEqual([
      { index: 0, finish_reason: null, delta: { content: 'H' } },
      { index: 0, finish_reason: null, delta: { content: 'i' } },
      { index: 0, finish_reason: 'stop', delta: {} },
      { index: 0, finish_reason: 'stop', delta: {} },
    ]);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('has an index for every piece of a call: by id, else the place of the call', async () => {
    const calls = (list: string) => `{"index":0,"delta":{"tool_calls":[${list}]}}`;
    playChunks(
      calls('{"id":"a","type":"function","function":{"name":"f","arguments":{"n":9007199254740993}}}'),
      calls('{"id":"b","function":{"name":"g","arguments":""}},{"function":{"name":"h","arguments":"{}"}}'),
      calls('{"id":"b","function":{"arguments":"{\\"x\\""}}'),
      calls('{"function":{"arguments":":1}"}}'),
      END,
    );
    const { text } = await ask(true);
    const pieces = chunksOf(text).flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    expect(pieces.map(({ index }) => index)).toEqual([0, 1, 2, 1, 1]);
    expect(pieces[0]).toEqual({
      index: 0,
      id: 'a',
      type: 'function',
      function: { name: 'f', arguments: '{"n":9007199254740993}' },
    });
    expect(pieces[2]?.['id']).toMatch(/^call_/);
  });

  test('keeps the calls in order across events that are read in a worker', async () => {
    const long = JSON.stringify('x'.repeat(200_000));
    const call = (members: string) => `{"index":0,"delta":{"tool_calls":[{${members}}]}}`;
    playChunks(
      call(`"id":"a","function":{"name":"f","arguments":${long}}`),
      call(`"id":"b","function":{"name":"g","arguments":${long}}`),
      call('"id":"c","function":{"name":"h","arguments":"{}"}'),
      END,
    );
    const { text } = await ask(true);
    const pieces = chunksOf(text).flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []));
    expect(pieces.map(({ index }) => index)).toEqual([0, 1, 2]);
  });

  test('is an error of the provider if its first chunk cannot be completed, and an error event later', async () => {
    playChunks('{"index":0,"delta":"Hi"}', END);
    const early = await ask(true);
    expect([early.status, JSON.parse(early.text).detail.code]).toEqual([502, 'upstream_error']);
    expect(await outcomeOf(early.answer)).toBe('released');
    playChunks('{"index":0,"delta":{"content":"Hi"}}', '{"index":0,"delta":"Hi"}', END);
    const late = await ask(true);
    expect([late.status, late.text.includes('"error"'), late.text.includes('[DONE]')]).toEqual([200, true, false]);
  });

  test('completes the counts of usage', async () => {
    raw.handle = (_req, res) =>
      eventStream(res).end(
        `data: {"choices":[${END}]}\n\ndata: {"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\ndata: [DONE]\n\n`,
      );
    expect((await ask(true)).text).toContain('"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}');
  });
});

describe('a member of ours in an answer of a provider', () => {
  const CLAIMS = [
    '"extensions":{"compliance_metadata":{"provider":"Other"}}',
    '"extensions":{"x":1,"compliance_metadat\\u0061":"Other"}',
    '"extensions":{"provenance":"Other"}',
    '"svc_user_id":"Other"',
  ];
  const chat = { model: 'svc-chat', messages };
  const paths: [string, object][] = [
    ['/v1/chat/completions', chat],
    ['/v1/completions', { model: 'svc-completion', prompt: 'x' }],
    ['/v1/embeddings', { model: 'svc-embedding', input: 'x' }],
    ['/v1/responses', { model: 'svc-chat', input: 'x' }],
  ];
  const answerOf = (path: string, more: string): string => {
    const kind = path.includes('embeddings')
      ? 'embedding'
      : path.endsWith('/completions') && !path.includes('chat')
        ? 'completion'
        : 'chat';
    const choice = '{"index":0,"text":"x","message":{"role":"assistant","content":"x"},"finish_reason":"stop"}';
    return `{"id":"a","model":"sandbox-${kind}-1","choices":[${choice}],"data":[],${more},${USAGE}}`;
  };

  test.each(paths)('is refused as ambiguous in JSON, in every mode: %s', async (path, body) => {
    for (const mode of ['2', 'headers']) {
      for (const claim of CLAIMS) {
        playJson(answerOf(path, claim));
        const { status, text, answer } = await post(path, body, { 'x-svc-compliance': mode });
        expect([status, JSON.parse(text).error.code], claim).toEqual([502, 'provider_attribution_ambiguous']);
        expect(await outcomeOf(answer)).toBe('settled');
      }
      for (const empty of [
        '"extensions":{"compliance_metadata":null}',
        '"extensions":{}',
        '"extensions":null',
        '"svc_x":{}',
      ]) {
        playJson(answerOf(path, empty));
        expect((await post(path, body, { 'x-svc-compliance': mode })).status, empty).toBe(200);
      }
    }
  });

  test.each(paths.filter(([path]) => !path.includes('embeddings')))(
    'is refused in a stream, in every mode: %s',
    async (path, body) => {
      const event = (more: string) => `data: ${answerOf(path, more).replace('"message"', '"delta"')}\n\n`;
      for (const mode of ['2', 'headers']) {
        for (const claim of CLAIMS) {
          raw.handle = (_req, res) => eventStream(res).end(`${event(claim)}data: [DONE]\n\n`);
          const early = await post(path, { ...body, stream: true }, { 'x-svc-compliance': mode });
          expect([early.status, early.text.includes('Other')], claim).toEqual([502, false]);
          raw.handle = (_req, res) => eventStream(res).end(`${event('"x":1')}${event(claim)}data: [DONE]\n\n`);
          const late = await post(path, { ...body, stream: true }, { 'x-svc-compliance': mode });
          expect(late.status).toBe(200);
          expect(late.text).toContain('provider_attribution_ambiguous');
          expect(late.text).not.toContain('Other');
        }
      }
    },
  );

  test.each(CLAIMS)('never reaches an app: %s', async (claim) => {
    playJson(answerOf(DELEGATED, claim));
    const whole = await ask(false);
    expect([whole.status, whole.text.includes('Other')]).toEqual([200, false]);
    const chunk = answerOf(DELEGATED, claim).replace('"message"', '"delta"');
    raw.handle = (_req, res) => eventStream(res).end(`data: ${chunk}\n\ndata: [DONE]\n\n`);
    const streamed = await ask(true);
    expect([streamed.text.includes('Other'), streamed.text.endsWith('data: [DONE]\n\n')]).toEqual([false, true]);
  });
});

test('waits for a chunk that names the model if earlier ones carry nothing', async () => {
  const events = ['{"choices":[],"model":""}', '{"choices":[],"usage":null}']
    .map((data) => `data: ${data}\n\n`)
    .join('');
  const chunk = `data: {"id":"c","model":"sandbox-chat-1","choices":[${END}],${USAGE}}\n\n`;
  raw.handle = (_req, res) => eventStream(res).end(`${events}${chunk}data: [DONE]\n\n`);
  const { status, text } = await post('/v1/chat/completions', { model: 'svc-chat', messages, stream: true });
  expect([status, text.includes('[DONE]')]).toEqual([200, true]);
});

test('counts empty fields of a form as absent, and sends a number as JSON has it', async () => {
  playJson('{"text":"x"}');
  const form = new FormData();
  for (const name of ['language', 'prompt', 'response_format', 'temperature']) form.append(name, '');
  form.append('file', new Blob([Buffer.alloc(1_000, 'a')]), 'a.mp3');
  form.append('temperature', '.5');
  const { status } = await fetch(`${gateway.url}/v1/integrations/inference/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  const sent = String(raw.bodies.at(-1));
  expect([status, /name="(language|prompt)"/.test(sent)]).toEqual([200, false]);
  expect(sent).toContain('name="response_format"\r\n\r\njson\r\n');
  expect(sent).toContain('name="temperature"\r\n\r\n0.5\r\n');
});
