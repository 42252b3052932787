import type { ServerResponse } from 'node:http';
import { waitFor } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let token: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  token = await gateway.tokens.accessToken();
  key = await createKey(gateway);
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
const responses = () => post('/v1/responses', key, { body: { model: 'svc-chat', input: 'Hi' } });
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
    ['a blank after [DONE]', SHORT.replace('[DONE]', '[DONE] '), 'settled'],
    ['[DONE] in a CRLF line with a tab', SHORT.replace('data: [DONE]\n\n', 'data: [DONE]\t\r\n\r\n'), 'settled'],
    ['empty events', SHORT.replaceAll('data: {', 'data:\n\ndata: \n\ndata\n\ndata: {'), 'settled'],
    ['values that say nothing', `data: null\n\ndata: {}\n\ndata: []\n\ndata: ""\n\n${SHORT}`, 'settled'],
    ['a ping that is not JSON', SHORT.replace('data: [DONE]', 'event: ping\ndata: now\n\ndata: [DONE]'), 'settled'],
    ['a byte-order mark', `\ufeff${SHORT}`, 'settled'],
    ['error: null', SHORT.replaceAll('"choices"', '"error":null,"choices"'), 'settled'],
    ['an empty error', SHORT.replaceAll('"choices"', '"error":{},"choices"'), 'settled'],
    ['empty usage in each chunk', SHORT.replaceAll('"choices":[{', '"usage":{},"choices":[{'), 'settled'],
    ['an empty text as usage', SHORT.replaceAll('"choices":[{', '"usage":"","choices":[{'), 'settled'],
    ['a number too large in a dropped member', SHORT.replaceAll('"choices"', '"x":1e999,"choices"'), 'settled'],
    ['a repeated dropped member', SHORT.replaceAll('"choices"', '"x":{"a":1,"a":2},"x":3,"choices"'), 'settled'],
    ['an object that is not a chunk', SHORT.replace('data: [DONE]', 'data: {"id":1}\n\ndata: [DONE]'), 'settled'],
  ])('is relayed and settled by its completeness: %s', async (_name, text, outcome) => {
    play(Buffer.from(text));
    const { answer, text: seen } = await delegated();
    expect(answer.status).toBe(200);
    expect(contentOf(seen)).toBe('å日🙂');
    expect(await outcomeOf(answer)).toBe(outcome);
    expect(seen.endsWith('data: [DONE]\n\n')).not.toBe(seen.includes('"error"'));
  });

  describe('that is cut off or damaged after the finish reasons and the usage', () => {
    const WHOLE = SHORT.replace('data: [DONE]\n\n', '');
    const second = chunk('', 'stop').replace('"index":0', '"index":1');
    const secondText = chunk('x').replace('"index":0', '"index":1');
    /** Sends a text, then resets the connection. */
    const playAndBreak = (text: string): void => {
      raw.handle = (_req, res) => {
        eventStream(res).write(text, () => setTimeout(() => res.destroy(), 20));
      };
    };

    test('is a whole answer for every kind of caller', async () => {
      playAndBreak(WHOLE);
      for (const ask of [() => delegated(), () => plain('2'), responses]) {
        const { answer, text } = await ask();
        expect(text).not.toContain('"error":{');
        expect(text).toMatch(/data: \[DONE\]\n\n$|event: response.completed/);
        expect(await outcomeOf(answer)).toBe('settled');
      }
      const { answer, text } = await plain();
      expect([text, await outcomeOf(answer)]).toEqual([WHOLE, 'settled']);
    });

    test('is whole with an unreadable event at its end', async () => {
      play(Buffer.from(`${WHOLE}data: {"choices":\n\n`));
      const { answer, text } = await delegated();
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
      expect(await outcomeOf(answer)).toBe('settled');
    });

    test.each([
      ['without usage', `data: ${chunk('å日🙂')}\n\ndata: ${chunk('', 'stop')}\n\n`],
      ['with one of two choices open', WHOLE.replace(': é', `: é\n\ndata: ${secondText}`)],
      ['with an error at its end', `${WHOLE}data: {"error":{"message":"no"}}\n\n`],
    ])('is no whole answer %s', async (_name, text) => {
      playAndBreak(text);
      const { text: seen } = await delegated();
      expect(seen).toContain('upstream_timeout_uncertain');
      expect(seen).not.toContain('[DONE]');
    });

    test('is whole once every choice has ended', async () => {
      playAndBreak(WHOLE.replace(': é', `: é\n\ndata: ${secondText}\n\ndata: ${second}`));
      expect((await delegated()).text.endsWith('data: [DONE]\n\n')).toBe(true);
    });
  });

  test.each([
    ['missing choices', USAGE.replace('"choices":[],', '')],
    ['null choices', USAGE.replace('"choices":[]', '"choices":null')],
  ])('passes usage with %s through, and charges it', async (_name, usage) => {
    const text = SHORT.replace(USAGE, usage);
    play(Buffer.from(text));
    expect((await plain()).text).toBe(text);
    const { answer, text: seen } = await delegated({ stream_options: { include_usage: true } });
    expect(seen).toContain('"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}');
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
