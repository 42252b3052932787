import type { ServerResponse } from 'node:http';
import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let token: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  token = await gateway.tokens.accessToken();
  const session = await gateway.tokens.consoleSession({ userId: newId('usr') });
  const created = await fetch(`${gateway.url}/v1/gateway/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Test' }),
  });
  key = JSON.parse(await created.text()).key;
  await useProviders(gateway, { raw: raw.url });
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});

const post = async (path: string, credential: string, more: { body?: object; headers?: Record<string, string> }) => {
  const answer = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json', ...more.headers },
    body: JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'Hi' }], ...more.body }),
  });
  return { answer, text: await answer.text() };
};
/** Streams through the API-key gateway, by default with the provider's unchanged bytes and usage. */
const plain = (mode = 'headers') => {
  const body = { model: 'svc-chat', stream_options: { include_usage: true } };
  return post('/v1/chat/completions', key, { body, headers: { 'x-svc-compliance': mode } });
};
const delegated = (body: object = {}) => post('/v1/integrations/inference/chat/completions', token, { body });
const contentOf = (text: string): string =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('data: {'))
    .flatMap((block) => JSON.parse(block.slice('data: '.length)).choices ?? [])
    .map(({ delta }) => delta.content ?? '')
    .join('');
const outcomeOf = async (answer: Response): Promise<string> =>
  (
    await waitFor(() =>
      gateway.database
        .knex('usage_records')
        .where({ request_id: answer.headers.get('x-request-id') })
        .first(),
    )
  ).outcome;

const chunk = (content: string, finish: string | null = null): string =>
  JSON.stringify({
    id: 'c-1',
    model: 'sandbox-chat-1',
    choices: [{ index: 0, delta: content === '' ? {} : { content }, finish_reason: finish }],
  });
const USAGE = '{"id":"c-1","model":"sandbox-chat-1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}';
const SHORT = `: é\n\ndata: ${chunk('å日🙂')}\n\ndata: ${chunk('', 'stop')}\n\ndata: ${USAGE}\n\ndata: [DONE]\n\n`;
/** Flushes each piece before it writes the next one. */
const writeIn = (res: ServerResponse, pieces: readonly Buffer[]): void => {
  const [first, ...rest] = pieces;
  if (first === undefined) res.end();
  else res.write(first, () => setImmediate(() => writeIn(res, rest)));
};
const play = (...pieces: readonly Buffer[]): void => {
  raw.handle = (_req, res) => {
    res.socket?.setNoDelay(true);
    writeIn(eventStream(res), pieces);
  };
};

describe('a stream split at any byte', () => {
  test.each([
    ['line feeds', SHORT],
    ['carriage returns and line feeds', SHORT.replaceAll('\n', '\r\n')],
    ['carriage returns', SHORT.replaceAll('\n', '\r')],
  ])(
    'passes byte for byte, with the same content: %s',
    async (_name, text) => {
      const bytes = Buffer.from(text);
      for (let at = 1; at < bytes.length; at += 1) {
        play(bytes.subarray(0, at), bytes.subarray(at));
        expect((await plain()).text).toBe(text);
        if (at % 8 === 0) expect(contentOf((await delegated()).text)).toBe('å日🙂');
      }
      play(...[...bytes].map((byte) => Buffer.of(byte)));
      const { answer, text: seen } = await plain();
      expect(seen).toBe(text);
      expect(await outcomeOf(answer)).toBe('settled');
    },
    120_000,
  );

  test.each(['\n', '\r\n', '\r'])('changes no byte except the added chunk, with %j', async (lineEnd) => {
    const text = SHORT.replaceAll('\n', lineEnd).replace('data: [DONE]', 'data:[DONE]');
    play(Buffer.from(text));
    const { text: seen } = await plain('2');
    const added = /data: \{[^\r\n]*"compliance_metadata"[^\r\n]*\n\n/;
    expect(seen).toMatch(added);
    expect(seen.replace(added, '')).toBe(text);
  });

  test('may have a line of 1 MiB', async () => {
    const long = 'x'.repeat(1024 * 1024);
    const bytes = Buffer.from(SHORT.replace('å日🙂', long));
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 50_001) pieces.push(bytes.subarray(at, at + 50_001));
    play(...pieces);
    expect((await plain()).text === bytes.toString()).toBe(true);
    expect(contentOf((await delegated()).text) === long).toBe(true);
  });
});

describe('an unusual stream', () => {
  const empty = '{"id":"c-1","model":"sandbox-chat-1","choices":[]}';
  test.each([
    ['chunks without choices', `data: ${empty}\n\n${SHORT}`, 'settled'],
    ['usage at the start', `data: ${USAGE}\n\n${SHORT}`, 'settled'],
    ['usage twice: the last one counts', SHORT.replace(USAGE, `${USAGE}\n\ndata: ${USAGE}`), 'settled'],
    ['several data lines', SHORT.replace('"choices":[{', '"choices":\ndata: [{'), 'settled'],
    ['no [DONE], but a finish reason', SHORT.replace('data: [DONE]\n\n', ''), 'settled'],
    ['no usage', SHORT.replace(`data: ${USAGE}\n\n`, ''), 'settled'],
    ['neither [DONE] nor a finish reason', `data: ${chunk('å日🙂')}\n\n`, 'uncertain'],
    ['neither [DONE] nor a finish reason, but usage', `data: ${chunk('å日🙂')}\n\ndata: ${USAGE}\n\n`, 'settled'],
    ['a chunk after [DONE]', `${SHORT}data: ${chunk('more')}\n\n`, 'settled'],
    ['an object that is not a chunk', SHORT.replace('data: [DONE]', 'data: {"id":1}\n\ndata: [DONE]'), 'settled'],
  ])('is relayed and settled by its completeness: %s', async (_name, text, outcome) => {
    play(Buffer.from(text));
    const { answer, text: seen } = await delegated();
    expect(answer.status).toBe(200);
    expect(contentOf(seen)).toBe('å日🙂');
    expect(await outcomeOf(answer)).toBe(outcome);
    expect(seen.endsWith('data: [DONE]\n\n')).not.toBe(seen.includes('"error"'));
  });

  test.each([
    ['missing choices', USAGE.replace('"choices":[],', '')],
    ['null choices', USAGE.replace('"choices":[]', '"choices":null')],
  ])('passes usage with %s through, and charges it', async (_name, usage) => {
    const text = SHORT.replace(USAGE, usage);
    play(Buffer.from(text));
    expect((await plain()).text).toBe(text);
    const { answer, text: seen } = await delegated({ stream_options: { include_usage: true } });
    expect(seen).toContain('"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}');
    expect(seen.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await outcomeOf(answer)).toBe('settled');
  });

  const PING = 'event: ping\ndata: {"type":"ping"}\n\n';
  test.each([
    ['between two chunks', SHORT.replace(`data: ${USAGE}`, `${PING}data: ${USAGE}`)],
    ['at the start', `${PING}${SHORT}`],
  ])('passes an event outside the wire format %s to API keys, but not to apps', async (_place, text) => {
    play(Buffer.from(text));
    const { answer, text: seen } = await plain();
    expect(seen).toBe(text);
    expect(await outcomeOf(answer)).toBe('settled');
    const { answer: other, text: shown } = await delegated();
    expect([contentOf(shown), shown.includes('ping')]).toEqual(['å日🙂', false]);
    expect(shown.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(await outcomeOf(other)).toBe('settled');
  });

  test('ends exactly once with the right outcome, for random events', async () => {
    const parts = fc.constantFrom(
      ...[chunk('a'), chunk('', 'stop'), USAGE, empty, '[DONE]', '{"error":{"message":"no"}}', '{', '[]', ''].map(
        (data) => `data: ${data}\n\n`,
      ),
      ': ping\r\n\r\n',
      'event: x\n\n',
      'data: {"id":"c-1",\ndata: "choices":[]}\r\r',
      '\n',
      'data: [DONE]',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 8 }), fc.integer({ min: 1, max: 90 }), async (list, size) => {
        const bytes = Buffer.from(list.join(''));
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
        play(...pieces);
        const { answer, text } = await delegated();
        expect([200, 502, 504]).toContain(answer.status);
        const outcome = await outcomeOf(answer);
        if (answer.status !== 200) {
          expect(outcome).toBe(answer.status === 502 ? 'released' : 'uncertain');
          return;
        }
        const ends = text.split('data: [DONE]').length - 1 + text.split('data: {"error"').length - 1;
        expect(ends).toBe(1);
        if (text.includes('[DONE]')) expect(outcome).toBe('settled');
      }),
      { numRuns: 80 },
    );
  }, 60_000);
});
