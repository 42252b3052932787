import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventStream, type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

/** Provider answers crafted to cost memory, time or money. */

const MEBIBYTE = 1024 * 1024;
let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let token: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startGateway(), startRawProvider()]);
  key = await createKey(gateway);
  token = await gateway.tokens.accessToken();
  await useProviders(gateway, { raw: `${raw.url}/v1` });
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
afterEach(() => {
  raw.bodies.length = 0;
});

interface Caller {
  readonly name: string;
  readonly path: string;
  /** JSON member for the model, if the endpoint has one. */
  readonly model: string;
  readonly credential: () => string;
}
const KEY_HOLDER: Caller = {
  name: 'an API key',
  path: '/v1/chat/completions',
  model: '"model":"svc-chat",',
  credential: () => key,
};
const APP: Caller = {
  name: 'an app',
  path: '/v1/integrations/inference/chat/completions',
  model: '',
  credential: () => token,
};
const CALLERS = [KEY_HOLDER, APP];

const ask = ({ path, model, credential }: Caller, more = ''): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential()}`, 'content-type': 'application/json' },
    body: `{${model}"messages":[{"role":"user","content":"Hello"}]${more}}`,
  });
const askForStream = (caller: Caller): Promise<Response> => ask(caller, ',"stream":true');
const codeOf = async (answer: Response): Promise<string> => {
  const body = JSON.parse(await answer.text());
  return (body.error ?? body.detail).code;
};
const implausibleCount = async (): Promise<number> => {
  const metrics = await (await fetch(`${gateway.internalUrl}/metrics`)).text();
  const counts = metrics.matchAll(/^upstream_usage_implausible_total\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
};
const recordOf = (answer: Response) =>
  waitFor(() =>
    gateway.database
      .knex('usage_records')
      .where({ request_id: answer.headers.get('x-request-id') ?? '' })
      .first(),
  );

const event = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'sandbox-chat-1', ...fields })}\n\n`;
const text = (content: string): string => event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const USAGE = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
const FINISH = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE });
const DONE = 'data: [DONE]\n\n';
const contentOf = (sent: string): string =>
  sent
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)).choices[0]?.delta.content ?? '')
    .join('');
/** Returns a text that is long enough to be read in a worker. */
const large = (letter: string): string => `${letter}"é\n`.repeat(40_000);

test('a refusal that quotes our key reaches the caller without it', async () => {
  let quoted = '';
  raw.handle = (req, res) => {
    quoted = String(req.headers.authorization).replace('Bearer ', '');
    const error = { message: `Bad request of ${quoted}, ${quoted}`, type: quoted, code: quoted };
    res.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  };
  const answer = await ask(KEY_HOLDER);
  expect(answer.status).toBe(400);
  expect(quoted.length).toBeGreaterThan(8);
  const error = { message: 'Bad request of [removed], [removed]', type: '[removed]', param: null, code: '[removed]' };
  expect(JSON.parse(await answer.text())).toEqual({ error });
});

describe.each(CALLERS)('large events, for $name', (caller) => {
  const play = (...pieces: string[]): void => {
    raw.handle = async (_req, res) => {
      eventStream(res);
      for (const piece of pieces) {
        res.write(piece);
        await nextTurn();
      }
      res.end();
    };
  };

  test('are relayed in order, however the stream is split', async () => {
    const texts = ['1', large('2'), '3', large('4'), large('5'), '6'];
    const stream = texts.map(text).join('') + FINISH + DONE;
    const splits = [[stream], [stream.slice(0, 700_000), stream.slice(700_000)], texts.map(text)];
    splits[2]?.push(FINISH, DONE);
    for (const pieces of splits) {
      play(...pieces);
      const answer = await askForStream(caller);
      const sent = await answer.text();
      expect(contentOf(sent) === texts.join('')).toBe(true);
      expect(sent.endsWith(DONE)).toBe(true);
      expect(await recordOf(answer)).toMatchObject({ outcome: 'settled', input_tokens: 5, output_tokens: 7 });
    }
  });

  test('may start and end a stream', async () => {
    play(text(large('1')), event({ choices: [{ delta: { content: large('2') }, finish_reason: 'stop' }] }).trimEnd());
    const answer = await askForStream(caller);
    const sent = await answer.text();
    expect(contentOf(sent) === large('1') + large('2')).toBe(true);
    expect(sent.endsWith(DONE)).toBe(true);
    const record = await recordOf(answer);
    expect(record).toMatchObject({ outcome: 'settled', is_estimated: true });
    expect(record.output_tokens).toBe(Math.ceil(Buffer.byteLength(large('1') + large('2')) / 4));
  });

  test('break the stream off if they contain an error or invalid JSON', async () => {
    for (const data of [
      `{"error":{"message":"${large('x').replaceAll(/["\n]/g, '')}"}}`,
      `{"choices":[${'1'.repeat(200_000)}`,
    ]) {
      play(text('1'), `data: ${data}\n\n`, FINISH, DONE);
      const sent = await (await askForStream(caller)).text();
      expect(sent).toContain('upstream_timeout_uncertain');
      expect(sent).not.toContain('[DONE]');
    }
  });
});

test('breaks off a stream whose large event names another model or repeats a member', async () => {
  const choices = JSON.stringify([{ delta: { content: large('x') } }]);
  for (const more of ['"model":"other"', '"model":"sandbox-chat-1","mod\\u0065l":"sandbox-chat-1"']) {
    raw.handle = (_req, res) => eventStream(res).end(`${text('1')}data: {${more},"choices":${choices}}\n\n${DONE}`);
    expect(await (await askForStream(KEY_HOLDER)).text()).toContain('provider_attribution_ambiguous');
  }
});

/** Writes the same piece until the connection is closed. Returns the number of bytes written. */
const writeForever = async (res: ServerResponse, piece: string): Promise<number> => {
  let bytes = 0;
  while (!res.destroyed) {
    bytes += piece.length;
    res.write(piece);
    while (!res.destroyed && res.writableNeedDrain) await sleep(1);
    await nextTurn();
  }
  return bytes;
};

describe.each(CALLERS)('an endless answer, for $name', (caller) => {
  test.each([
    ['in one event', 'x'.repeat(MEBIBYTE), ''],
    ['in comments before the first event', `: ${'x'.repeat(10_000)}\n\n`, ''],
    ['in one event after the first', 'x'.repeat(MEBIBYTE), text('1')],
  ])('%s is aborted after a few megabytes', async (_name, piece, start) => {
    const written = Promise.withResolvers<number>();
    raw.handle = (_req, res) => {
      eventStream(res).write(`${start}data: {"choices":"`.slice(start === '' && piece.startsWith(':') ? -1 : 0));
      void writeForever(res, piece).then(written.resolve);
    };
    const answer = await askForStream(caller);
    expect(await answer.text()).toContain('upstream_timeout_uncertain');
    expect(await written.promise).toBeLessThan(32 * MEBIBYTE);
  });

  test('in JSON beyond 32 MiB returns 502 without a retry, and is charged by bytes, at most its hold', async () => {
    const written = Promise.withResolvers<number>();
    raw.handle = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":["');
      void writeForever(res, 'x'.repeat(MEBIBYTE)).then(written.resolve);
    };
    const answer = await ask(caller);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect([answer.status, await codeOf(answer)]).toEqual([502, 'upstream_error']);
    const record = await recordOf(answer);
    expect(record).toMatchObject({ outcome: 'settled', is_estimated: true, output_tokens: 4_096, status: 502 });
    expect(record.cost_micros).toBeGreaterThan(0);
    expect(await written.promise).toBeLessThan(64 * MEBIBYTE);
  });

  test('is not read if it announces more than 32 MiB', async () => {
    raw.handle = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': 33 * MEBIBYTE }).write('{');
    };
    const answer = await ask(caller);
    expect([answer.status, await codeOf(answer)]).toEqual([502, 'upstream_error']);
  });
});

describe.each(CALLERS)('an unreadable answer, for $name', (caller) => {
  const body = JSON.stringify({
    id: 'a',
    model: 'sandbox-chat-1',
    choices: [{ message: { content: 'x' } }],
    usage: USAGE,
  });
  const json = { 'content-type': 'application/json', 'x-request-id': 'upstream-1' };

  test.each<[string, (res: ServerResponse) => void]>([
    ['compressed', (res) => res.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(body))],
    ['with a header of 20 KB', (res) => res.writeHead(200, { ...json, 'x-large': 'x'.repeat(20_000) }).end(body)],
    [
      'with 300 headers',
      (res) =>
        res
          .writeHead(200, [...Object.entries(json), ...Array.from({ length: 300 }, (_, n) => [`x-${n}`, 'x'])].flat())
          .end(body),
    ],
    [
      'after many interim responses',
      (res) => {
        for (let count = 0; count < 100; count += 1) res.writeEarlyHints({ link: '</x>; rel=preload' });
        res.writeHead(200, json).end(body);
      },
    ],
    ['followed by more JSON', (res) => res.writeHead(200, json).end(`${body}{}`)],
  ])('%s, has an uncertain outcome', async (_name, answerWith) => {
    raw.handle = (_req, res) => answerWith(res);
    const answer = await ask(caller);
    expect([answer.status, await codeOf(answer)]).toEqual([504, 'upstream_timeout_uncertain']);
    expect(await recordOf(answer)).toMatchObject({ outcome: 'uncertain' });
  });

  test('compressed as a stream, has an uncertain outcome', async () => {
    raw.handle = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      res.end(gzipSync(text('1') + FINISH + DONE));
    };
    const answer = await askForStream(caller);
    expect([answer.status, await codeOf(answer)]).toEqual([504, 'upstream_timeout_uncertain']);
  });
});

const IMPLAUSIBLE = [
  ['10^9 tokens', { prompt_tokens: 1e9, completion_tokens: 1, total_tokens: 1e9 + 1 }],
  ['a sum beyond the context', { prompt_tokens: 1_999_999, completion_tokens: 2, total_tokens: 2_000_001 }],
  ['negative counts', { prompt_tokens: 5, completion_tokens: -7, total_tokens: -2 }],
  ['fractions', { prompt_tokens: 5, completion_tokens: 0.5, total_tokens: 5.5 }],
  ['strings', { prompt_tokens: '5', completion_tokens: '7', total_tokens: '12' }],
  ['a list', { prompt_tokens: [5], completion_tokens: 7, total_tokens: 12 }],
  ['an infinite number', '{"prompt_tokens":1e400,"completion_tokens":7,"total_tokens":12}'],
  ['an unsafe integer', '{"prompt_tokens":9007199254740993,"completion_tokens":7,"total_tokens":12}'],
] as const;

describe.each(CALLERS)('usage, for $name', (caller) => {
  const CONTENT = 'x'.repeat(400);

  test.each(IMPLAUSIBLE)('is estimated by bytes if it is implausible: %s', async (_name, usage) => {
    const reported = typeof usage === 'string' ? usage : JSON.stringify(usage);
    const message = JSON.stringify([
      { index: 0, message: { role: 'assistant', content: CONTENT }, finish_reason: 'stop' },
    ]);
    raw.handle = (_req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' })
        .end(`{"id":"a","model":"sandbox-chat-1","created":1,"choices":${message},"usage":${reported}}`);
    const whole = await ask(caller);
    expect(whole.status).toBe(200);
    expect(await recordOf(whole)).toMatchObject({ outcome: 'settled', is_estimated: true, output_tokens: 100 });
    raw.handle = (_req, res) =>
      eventStream(res).end(`${text(CONTENT)}${FINISH.replace(JSON.stringify(USAGE), reported)}${DONE}`);
    const streamed = await askForStream(caller);
    await streamed.text();
    expect(await recordOf(streamed)).toMatchObject({ outcome: 'settled', is_estimated: true, output_tokens: 100 });
  });

  test("is estimated by bytes if the output exceeds the request's own limit, at most the hold, and counted", async () => {
    const content = 'x'.repeat(4_000);
    const usage = { prompt_tokens: 5, completion_tokens: 51, total_tokens: 56 };
    const limit = ',"max_tokens":40,"max_completion_tokens":50';
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    raw.handle = (_req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' })
        .end(JSON.stringify({ id: 'a', model: 'sandbox-chat-1', choices, usage }));
    const before = await implausibleCount();
    const whole = await ask(caller, limit);
    expect(whole.status).toBe(200);
    expect(await recordOf(whole)).toMatchObject({ outcome: 'settled', is_estimated: true, output_tokens: 50 });
    raw.handle = (_req, res) =>
      eventStream(res).end(`${text(content)}${FINISH.replace(JSON.stringify(USAGE), JSON.stringify(usage))}${DONE}`);
    const streamed = await ask(caller, `${limit},"stream":true`);
    await streamed.text();
    expect(await recordOf(streamed)).toMatchObject({ outcome: 'settled', is_estimated: true, output_tokens: 50 });
    expect((await implausibleCount()) - before).toBe(2);
  });

  test('is believed up to the own limit of the request', async () => {
    raw.handle = (_req, res) => eventStream(res).end(`${text('x')}${FINISH}${DONE}`);
    const answer = await ask(caller, ',"max_tokens":7,"stream":true');
    await answer.text();
    expect(await recordOf(answer)).toMatchObject({ outcome: 'settled', is_estimated: false, output_tokens: 7 });
  });

  test('is that of the last chunk with usage, if several end the stream', async () => {
    const usage = (tokens: number) =>
      event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: tokens, total_tokens: 5 + tokens } });
    raw.handle = (_req, res) => eventStream(res).end(`${text('x')}${FINISH}${usage(8)}${usage(9)}${DONE}`);
    const answer = await askForStream(caller);
    await answer.text();
    expect(await recordOf(answer)).toMatchObject({ outcome: 'settled', is_estimated: false, output_tokens: 9 });
  });

  test('is the last one, if the provider reports a running count', async () => {
    const running = (tokens: number) =>
      event({ choices: [{ delta: { content: 'x' } }], usage: { prompt_tokens: 5, completion_tokens: tokens } });
    raw.handle = (_req, res) => eventStream(res).end(`${running(900)}${running(1)}${running(800)}${FINISH}${DONE}`);
    const answer = await askForStream(caller);
    await answer.text();
    expect(await recordOf(answer)).toMatchObject({ outcome: 'settled', is_estimated: false, output_tokens: 7 });
  });

  test('is not read from nested members of the same name', async () => {
    const decoy = { model: 'other', usage: { prompt_tokens: 900 }, id: 'other', choices: [], extensions: {} };
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'x', ...decoy }, finish_reason: 'stop', ...decoy },
    ];
    raw.handle = (_req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' })
        .end(JSON.stringify({ x: decoy, choices, id: 'a', model: 'sandbox-chat-1', usage: USAGE }));
    const answer = await ask(caller);
    expect(answer.status).toBe(200);
    expect(await recordOf(answer)).toMatchObject({
      input_tokens: 5,
      output_tokens: 7,
      upstream_model: 'sandbox-chat-1',
    });
  });
});
