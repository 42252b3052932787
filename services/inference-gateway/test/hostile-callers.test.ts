import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

/** Requests crafted to cost memory or time, or to be ambiguous. */

const MEBIBYTE = 1024 * 1024;
const CHAT = '/v1/chat/completions';
const DELEGATED_CHAT = '/v1/integrations/inference/chat/completions';
const TRANSCRIPTION = '/v1/integrations/inference/audio/transcriptions';
let gateway: TestGateway;
let raw: RawProvider;
let session: string;
let key: string;
let token: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([
    startGateway({ environment: { CLIENT_IDLE_TIMEOUT_MS: '600' } }),
    startRawProvider(),
  ]);
  session = await gateway.tokens.consoleSession({ userId: newId('usr') });
  const created = await send('/v1/gateway/keys', { credential: session, body: '{"name":"Test"}' });
  key = JSON.parse(await created.text()).key;
  token = await gateway.tokens.accessToken();
  await useProviders(gateway, { raw: `${raw.url}/v1` });
  raw.handle = (_req, res) =>
    res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' }).end(ANSWER);
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});

const ANSWER = JSON.stringify({
  id: 'a',
  model: 'sandbox-chat-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
});

interface Sending {
  readonly credential: string;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

const send = (path: string, { credential, body, headers = {} }: Sending): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });

interface Caller {
  readonly name: string;
  readonly path: string;
  readonly credential: () => string;
  /** Wraps an error in the format of the endpoint. */
  readonly error: (code: string) => object;
}
const CALLERS: readonly Caller[] = [
  {
    name: 'an API key',
    path: CHAT,
    credential: () => key,
    error: (code) => ({ error: { message: expect.any(String), type: 'invalid_request_error', param: null, code } }),
  },
  {
    name: 'an app',
    path: DELEGATED_CHAT,
    credential: () => token,
    error: (code) => ({ detail: expect.objectContaining({ code, message: expect.any(String) }) }),
  },
];

describe.each(CALLERS)('a body of $name', ({ path, credential, error }) => {
  const model = path === CHAT ? '"model":"svc-chat",' : '';
  const post = (body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
    send(path, { credential: credential(), body, headers });
  const expectRefusal = async (answer: Response, status: number, code: string) => {
    expect([answer.status, await answer.json()]).toEqual([status, error(code)]);
  };

  test.each(['gzip', 'x-gzip', 'br', 'deflate', 'zstd', 'identity, gzip'])(
    'is refused with 415 if it is compressed with %s',
    async (coding) => {
      const answer = await post(gzipSync(`{${model}"messages":[{}]}`), { 'content-encoding': coding });
      await expectRefusal(answer, 415, 'unsupported_media_type');
    },
  );

  test('is refused with 413 beyond 32 MiB, with a length or chunked', async () => {
    const text = `{${model}"messages":[{"content":"${'x'.repeat(32 * MEBIBYTE)}"}]}`;
    await expectRefusal(await post(text), 413, 'payload_too_large');
    expect(await postInChunks(path, credential(), text)).toBe(413);
  });

  test('is accepted with 500,000 values, and refused with 413 with one more', async () => {
    // The root, the list and, for an API key, the model.
    const others = model === '' ? 2 : 3;
    const withValues = (values: number) => `{${model}"messages":[${'{},'.repeat(values - others - 1)}{}]}`;
    expect((await post(withValues(500_000))).status).toBe(200);
    await expectRefusal(await post(withValues(500_001)), 413, 'payload_too_complex');
  });

  test('is accepted with 64 levels, and refused with 413 with one more', async () => {
    // The root, the list of tools, and the tool.
    const withDepth = (depth: number) =>
      `{${model}"messages":[{}],"tools":[{"a":${'['.repeat(depth - 3)}${']'.repeat(depth - 3)}}]}`;
    expect((await post(withDepth(64))).status).toBe(200);
    await expectRefusal(await post(withDepth(65)), 413, 'payload_too_complex');
  });

  test('is refused with 413 in chunks of one byte, and its connection is closed', async () => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').setEncoding('utf8');
    socket.on('error', () => {});
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${credential()}\r\ncontent-type: application/json\r\n` +
        `transfer-encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(20_000)}`,
    );
    let answer = '';
    socket.on('data', (text: string) => {
      answer += text;
    });
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*payload_too_complex/s);
  });

  test('may contain lone surrogates and numbers out of range in members that the gateway does not read', async () => {
    const answer = await post(`{${model}"messages":[{"role":"user","content":"\\ud800","x":-1e400}]}`);
    expect(answer.status).toBe(200);
    expect(raw.bodies.at(-1)?.toString()).toContain('"content":"\\ud800","x":-1e400');
  });

  test('is refused if it repeats a member, even if that is escaped', async () => {
    for (const twice of ['"messages":[{}],"messages":[{}]', '"messages":[{}],"stream_options":{"a":1,"\\u0061":2}']) {
      const answer = await post(`{${model}${twice}}`);
      expect(answer.status).toBe(path === CHAT ? 400 : 422);
      expect(await answer.text()).toContain('repeated');
    }
  });

  test('is forwarded with a request for usage, regardless of its stream_options', async () => {
    for (const options of ['null', '{}', '{"include_usage":false}', '{"a":[{"include_usage":false}]}']) {
      await post(`{${model}"messages":[{}],"stream":true,"stream_options":${options}}`).then((answer) => answer.text());
      const forwarded = JSON.parse(String(raw.bodies.at(-1)));
      expect(forwarded.stream_options.include_usage).toBe(true);
    }
  });
});

/** Sends a chunked body and returns the status of the answer. */
const postInChunks = async (path: string, credential: string, body: string): Promise<number | undefined> => {
  const req = httpRequest(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
  });
  req.on('error', () => {});
  req.end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  res.resume();
  return res.statusCode;
};

describe('a request', () => {
  const sendHead = async (lines: string): Promise<string> => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').setEncoding('utf8');
    socket.on('error', () => {});
    socket.write(
      `GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${key}\r\n${lines}\r\n`,
    );
    return (await socket.toArray()).join('').slice(0, 12);
  };

  test('with headers of more than 16 KB is refused with 431', async () => {
    expect(await sendHead(`x-a: ${'x'.repeat(20_000)}\r\n`)).toBe('HTTP/1.1 431');
    expect(await sendHead('a:\r\n'.repeat(5_000))).toBe('HTTP/1.1 431');
  });

  test('with 200 headers is accepted', async () => {
    expect(await sendHead('a:\r\n'.repeat(200))).toBe('HTTP/1.1 200');
  });
});

describe('a transcription form', () => {
  const post = (parts: string): Promise<Response> =>
    send(TRANSCRIPTION, {
      credential: token,
      body: `${parts}--B--\r\n`,
      headers: { 'content-type': 'multipart/form-data; boundary=B' },
    });
  const part = (more = ''): string => `--B\r\ncontent-disposition: form-data; name="x"\r\n${more}\r\ny\r\n`;

  test.each([
    ['33 parts', part().repeat(33)],
    ['100,000 parts', part().repeat(100_000)],
    ['a part with headers of 9 KB', part(`x-a: ${'x'.repeat(9_000)}\r\n`)],
    ['a part with 1,000 headers', part(Array.from({ length: 1_000 }, (_, n) => `x-${n}: y\r\n`).join(''))],
    ['a parameter of 8 KB', part().replace('name="x"', `name="x"; ${'a=b; '.repeat(1_500)}c=d`)],
  ])('with %s is refused with 422', async (_name, parts) => {
    expect((await post(parts)).status).toBe(422);
  });
});

describe('the usage list', () => {
  const list = (query: string) => send(`/v1/gateway/usage?${query}`, { credential: session });

  test.each([
    'limit=1',
    'limit=100',
    'from=0001-01-01T00:00:00Z',
    'to=9999-12-31T23:59:59Z',
    'from=9999-12-31T23:59:59.999999999Z&to=0001-01-01T00:00:00Z',
    'after=req_unknown',
    `key_id=${'x'.repeat(128)}`,
  ])('accepts %s', async (query) => {
    expect((await list(query)).status).toBe(200);
  });

  test.each([
    'limit=0',
    'limit=101',
    'limit=-1',
    'limit=1e9',
    'limit=99999999999999999999',
    'limit=1&limit=100',
    'from=0000-01-01T00:00:00Z',
    'from=10000-01-01T00:00:00Z',
    'from=2026-02-30T00:00:00Z',
    'from=now',
    `after=${'x'.repeat(129)}`,
    'key_id=%00',
  ])('refuses %s with 422', async (query) => {
    expect((await list(query)).status).toBe(422);
  });

  test('lists at most 100 faults of a query', async () => {
    const answer = await list(
      Array.from({ length: 2_000 }, (_, n) => `k${n}=1&k${n}=2`)
        .join('&')
        .slice(0, 15_000),
    );
    const text = await answer.text();
    expect(text.length).toBeLessThan(20_000);
  });
});

describe('a JSON answer that its caller does not read', () => {
  test('is aborted, with its connection, after the idle timeout', async () => {
    const content = 'x'.repeat(16 * MEBIBYTE);
    raw.handle = (_req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'upstream-1' })
        .end(ANSWER.replace('Hello', content));
    const req = httpRequest(`${gateway.url}${CHAT}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    req.on('error', () => {});
    req.end('{"model":"svc-chat","messages":[{}]}');
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    res.on('error', () => {});
    res.pause();
    await waitFor(() => gateway.logs().includes('"aborted":true'));
    res.resume();
    await new Promise((resolve) => res.once('close', resolve));
    expect(res.complete).toBe(false);
  });
});
