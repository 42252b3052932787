import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { costOfAudio } from '@svc/contracts';
import { freePort, waitFor } from '@svc/testing';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

const PATH = '/v1/integrations/inference/audio/transcriptions';
const FILE_BYTES_MAX = 25_000_000;
let gateway: TestGateway;
let raw: RawProvider;
let token: string;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([
    startGateway({ environment: { UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '4000' } }),
    startRawProvider(),
  ]);
  token = await gateway.tokens.accessToken();
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
afterEach(async () => {
  gateway.billing.decide = () => ({ verdict: 'admitted' });
  await useProviders(gateway, { sandbox: `${gateway.provider.url}/v1` });
});

type Field = readonly [name: string, value: string | Blob, filename?: string];
const json = async (answer: Response) => JSON.parse(await answer.text());
const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? '';
const audio = (bytes = 32_000): Field => [
  'file',
  new Blob([Buffer.alloc(bytes, 'a')], { type: 'audio/mpeg' }),
  'secret name.mp3',
];
const post = (...fields: readonly Field[]) => {
  const form = new FormData();
  for (const [name, value, filename] of fields) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, filename);
  }
  return fetch(`${gateway.url}${PATH}`, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: form });
};
const postRaw = (body: string | Buffer, contentType = 'multipart/form-data; boundary=B') =>
  fetch(`${gateway.url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
    body,
  });
const recordOf = (requestId: string) =>
  waitFor(() => gateway.database.knex('usage_records').where({ request_id: requestId }).first());
const outcomeOf = (answer: Response) => gateway.billing.outcomes.get(idOf(answer))?.outcome;

const recording = async (name: string): Promise<['file', Blob, string]> => {
  const bytes = await readFile(
    new URL(`../src/delegated-requests/transcription/audio/fixtures/${name}`, import.meta.url),
  );
  return ['file', new Blob([bytes]), name];
};

describe('success', () => {
  test('json: returns only text, and bills the seconds reported by the provider', async () => {
    const answer = await post(audio());
    expect(answer.status).toBe(200);
    const body = await json(answer);
    expect(Object.keys(body).sort()).toEqual(['text', 'usage']);
    const cost = costOfAudio(100, 2_000);
    expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'settled', cost_micros: cost });
    expect(await recordOf(idOf(answer))).toMatchObject({
      service: 'audio_transcription',
      audio_ms: 2_000,
      cost_micros: cost,
      is_estimated: false,
      input_tokens: null,
    });
  });

  test('bills the begun second that the provider reports for a file that cannot last one', async () => {
    const answer = await post(audio(10));
    expect((await json(answer)).usage).toEqual({ type: 'duration', seconds: 1 });
    const charged = { audio_ms: 1_000, cost_micros: costOfAudio(100, 1_000), is_estimated: false };
    expect(await recordOf(idOf(answer))).toMatchObject(charged);
  });

  test('verbose_json: returns language, duration and segments', async () => {
    const body = await json(await post(['response_format', 'verbose_json'], ['language', 'it'], audio()));
    expect(body).toMatchObject({ language: 'it', duration: 2, segments: [{ id: 0, text: body.text }] });
  });

  test('returns usage in tokens, as newer models report it', async () => {
    const usage = { type: 'tokens', input_tokens: 9, output_tokens: 4, total_tokens: 13 };
    const details = { input_token_details: { text_tokens: 2, audio_tokens: 7 } };
    raw.handle = (_req, res) =>
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ text: 'x', usage: { ...usage, ...details, node: 'eu-7' } }));
    await useProviders(gateway, { raw: raw.url });
    expect(await json(await post(audio()))).toEqual({ text: 'x', usage: { ...usage, ...details } });
  });

  test('accepts fields after the file', async () => {
    const body = await json(
      await post(audio(), ['response_format', 'verbose_json'], ['temperature', '0.5'], ['language', 'de']),
    );
    expect(body.language).toBe('de');
  });

  test('bills the duration if there is no usage, and else estimates by size', async () => {
    const verbose = await post(['prompt', '[[no_usage]]'], ['response_format', 'verbose_json'], audio(24_000));
    await verbose.text();
    expect(await recordOf(idOf(verbose))).toMatchObject({ audio_ms: 1_500, is_estimated: false });
    const plain = await post(['prompt', '[[no_usage]]'], audio(24_000));
    await plain.text();
    expect(await recordOf(idOf(plain))).toMatchObject({ audio_ms: 1_500, is_estimated: true });
  });

  test.each([
    ['a.mp3', 3_384],
    ['a.ogg', 3_220],
    ['a.m4a', 3_328],
    ['a.webm', 3_220],
    ['a.flac', 200],
  ])('measures the recording if there is no usage: %s', async (name, milliseconds) => {
    const answer = await post(['prompt', '[[no_usage]]'], await recording(name));
    expect(answer.status).toBe(200);
    const cost_micros = costOfAudio(100, milliseconds);
    expect(await recordOf(idOf(answer))).toMatchObject({ audio_ms: milliseconds, is_estimated: false, cost_micros });
  });

  test.each([
    ['more than the frames', 4_000, 4_000],
    ['less than the frames', 100, 3_384],
    ['more than a file of this size can last', 900_000_000, 3_384],
  ])(
    'bills the longer of what the provider reports and what the frames hold, if it reports %s',
    async (_, reportedMs, audio_ms) => {
      raw.handle = (_req, res) =>
        res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ text: 'x', usage: { type: 'duration', seconds: reportedMs / 1000 } }));
      await useProviders(gateway, { raw: raw.url });
      const answer = await post(await recording('a.mp3'));
      expect(answer.status).toBe(200);
      expect(await recordOf(idOf(answer))).toMatchObject({ audio_ms, is_estimated: false });
      const metrics = await (await fetch(`${gateway.internalUrl}/metrics`)).text();
      expect(/upstream_usage_implausible_total\{[^}]*raw[^}]*\} 1/.test(metrics)).toBe(reportedMs > 1_000_000);
    },
  );

  test('bills the maximum for the size, if neither frames nor the provider tell the length', async () => {
    const bytes = Buffer.from('G@\u0011\u0010'.padEnd(30_000));
    const answer = await post(['prompt', '[[no_usage]]'], ['file', new Blob([bytes]), 'a.ts']);
    expect(await recordOf(idOf(answer))).toMatchObject({ audio_ms: 40_000, is_estimated: true });
  });

  test('sends the provider the bytes, type and extension of the file, but not its name', async () => {
    raw.handle = (_req, res) =>
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"x","model":"m"}');
    await useProviders(gateway, { raw: raw.url });
    const answer = await post(['prompt', 'Straße'], audio(1_000), ['language', 'de']);
    expect(await json(answer)).toEqual({ text: 'x' });
    const sent = raw.bodies.at(-1)?.toString() ?? '';
    expect(sent).toContain('filename="audio.mp3"');
    expect(sent).toContain('content-type: audio/mpeg');
    expect(sent).toContain('a'.repeat(1_000));
    expect(sent).toContain('Straße');
    expect(sent).toContain('name="language"\r\n\r\nde');
    expect(sent).not.toContain('secret name');
  });
});

describe('limits', () => {
  test('accepts a file of 25,000,000 bytes, and returns 413 for one byte more', async () => {
    let received = 0;
    raw.handle = (_req, res, body) => {
      received = body.length;
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"x"}');
    };
    await useProviders(gateway, { raw: raw.url });
    const answer = await post(audio(FILE_BYTES_MAX));
    expect(answer.status).toBe(200);
    await answer.text();
    expect(received).toBeGreaterThan(FILE_BYTES_MAX);
    const larger = await post(audio(FILE_BYTES_MAX + 1));
    expect([larger.status, (await json(larger)).detail.code]).toEqual([413, 'payload_too_large']);
    expect(outcomeOf(larger)).toBe('released');
  });

  test('accepts a prompt of 4,000 characters, and returns 422 for one more', async () => {
    const answer = await post(['prompt', 'é'.repeat(4_000)], audio());
    expect(answer.status).toBe(200);
    await answer.text();
    expect((await post(['prompt', 'é'.repeat(4_001)], audio())).status).toBe(422);
  });

  test.each(['0', '1', '0.5', '-0', '0.30000000000000004', '1e-7', '.5', '0.', '+0.5', ' 1 '])(
    'accepts a temperature of %s',
    async (temperature) => {
      const answer = await post(['temperature', temperature], audio());
      expect(answer.status).toBe(200);
      await answer.text();
    },
  );
});

describe('returns 422 for', () => {
  const cases: [string, Field[], string, string][] = [
    ['no file', [['prompt', 'x']], 'file', 'missing'],
    ['an empty file', [audio(0)], 'file', 'value_error'],
    ['two files', [audio(), audio()], 'file', 'value_error'],
    ['a text instead of a file', [['file', 'text']], 'file', 'value_error'],
    ['an unknown field', [['model', 'whisper'], audio()], 'model', 'extra_forbidden'],
    ['an unknown field after the file', [audio(), ['model', 'whisper']], 'model', 'extra_forbidden'],
    ['a language of three letters', [['language', 'ita'], audio()], 'language', 'string_pattern_mismatch'],
    ['a language in capitals', [['language', 'IT'], audio()], 'language', 'string_pattern_mismatch'],
    ['a prompt far too long', [audio(), ['prompt', 'x'.repeat(70_000)]], 'prompt', 'string_too_long'],
    ['a language far too long', [['language', 'x'.repeat(70_000)], audio()], 'language', 'string_pattern_mismatch'],
    ['a temperature above one', [['temperature', '1.01'], audio()], 'temperature', 'less_than_equal'],
    ['a temperature below zero', [['temperature', '-0.01'], audio()], 'temperature', 'greater_than_equal'],
    ['a temperature that is not a number', [audio(), ['temperature', 'hot']], 'temperature', 'float_type'],
    [
      'a large file under another name',
      [['audio', new Blob([Buffer.alloc(200_000, 255)]), 'a.mp3']],
      'audio',
      'extra_forbidden',
    ],
    ['a file instead of a text', [audio(), ['language', new Blob(['it']), 'it.txt']], 'language', 'string_type'],
    ['another format', [['response_format', 'srt'], audio()], 'response_format', 'enum'],
    ['a repeated field', [['language', 'it'], ['language', 'de'], audio()], 'language', 'value_error'],
  ];
  test.each(cases)('%s', async (_name, fields, field, type) => {
    gateway.provider.resetCounts();
    const answer = await post(...fields);
    expect(answer.status).toBe(422);
    expect((await json(answer)).detail).toContainEqual(expect.objectContaining({ loc: ['form', field], type }));
    expect([undefined, 'released']).toContain(outcomeOf(answer));
    expect(gateway.provider.counts().billed.requests).toBe(0);
  });

  const open = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
  test.each([
    ['an empty body', ''],
    ['no delimiter', 'hello'],
    ['a file without an end', `${open}RIFF`],
    ['another boundary', `${open}RIFF\r\n--C--\r\n`],
    ['a part without a name', '--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--\r\n'],
    ['endless headers', `--B\r\nx: ${'y'.repeat(20_000)}`],
    ['a file without its final delimiter', `${open}RIFF\r\n--B\r\n`],
    ['a truncated final delimiter', `${open}RIFF\r\n--B-`],
    ['a repeated header', open.replace('\r\n\r\n', '\r\nContent-Disposition: form-data; name="x"\r\n\r\n')],
    [
      'a file in base64',
      `${open.replace('\r\n\r\n', '\r\nContent-Transfer-Encoding: base64\r\n\r\n')}UklGRg==\r\n--B--\r\n`,
    ],
  ])('a malformed form: %s', async (_name, body) => {
    const answer = await postRaw(body);
    expect([answer.status, (await json(answer)).detail[0].loc]).toEqual([422, ['form']]);
    expect([undefined, 'released']).toContain(outcomeOf(answer));
  });

  test('randomly damaged forms, without serving them', async () => {
    const whole = `--B\r\nContent-Disposition: form-data; name="language"\r\n\r\nde\r\n${open}RIFF\r\n--B--\r\n`;
    const at = fc.nat(whole.length - 1);
    const damage = fc.array(fc.tuple(at, fc.constantFrom('\r', '\n', '"', ';', '-', 'B', '\0', '')), { maxLength: 3 });
    gateway.provider.resetCounts();
    let served = 0;
    await fc.assert(
      fc.asyncProperty(damage, fc.option(at), async (edits, cut) => {
        const text = [...whole];
        for (const [index, character] of edits) text[index] = character;
        const answer = await postRaw(text.slice(0, cut ?? text.length).join(''));
        const body = await json(answer);
        expect([200, 422]).toContain(answer.status);
        if (answer.status === 200) served += 1;
        else for (const { loc } of body.detail) expect(loc[0]).toBe('form');
      }),
      { numRuns: 120 },
    );
    expect(gateway.provider.counts().billed.requests).toBe(served);
  });

  test('a missing boundary, but 415 for another media type and 413 for too many bytes besides the file', async () => {
    expect((await postRaw('{}', 'application/json')).status).toBe(415);
    expect((await postRaw('x', 'multipart/form-data')).status).toBe(422);
    expect((await postRaw(`${'x'.repeat(70_000)}\r\n${open}RIFF\r\n--B--`)).status).toBe(413);
  });
});

describe('refuses a request', () => {
  test('without a token', async () => {
    const answer = await fetch(`${gateway.url}${PATH}`, { method: 'POST', body: new FormData() });
    expect(answer.status).toBe(401);
  });

  test('that billing refuses, and forwards nothing', async () => {
    gateway.provider.resetCounts();
    gateway.billing.decide = () => ({ verdict: 'subscription_service_not_included' });
    const answer = await post(audio(1_000_000));
    expect([answer.status, (await json(answer)).detail.code]).toEqual([403, 'subscription_service_not_included']);
    expect(gateway.provider.counts().requests).toBe(0);
  });

  test('if no route is configured', async () => {
    await useProviders(gateway, {});
    const answer = await post(audio());
    expect([answer.status, (await json(answer)).detail.code]).toEqual([
      503,
      'subscription_transcription_not_configured',
    ]);
  });
});

describe('failures of the provider', () => {
  test.each([
    ['[[status=400]]', 400, 'upstream_rejected', 'released'],
    ['[[status=500]]', 502, 'upstream_error', 'released'],
    ['[[status=503]]', 503, 'upstream_unavailable', 'released'],
    ['[[reset]]', 504, 'upstream_timeout_uncertain', 'uncertain'],
    ['[[garbage]]', 504, 'upstream_timeout_uncertain', 'uncertain'],
    ['[[delay_ms=60000]]', 504, 'upstream_timeout_uncertain', 'uncertain'],
  ])('%s', async (prompt, status, code, outcome) => {
    const answer = await post(['prompt', prompt], audio());
    expect([answer.status, (await json(answer)).detail.code]).toEqual([status, code]);
    expect(outcomeOf(answer)).toBe(outcome);
    expect(await recordOf(idOf(answer))).toMatchObject({
      provider: 'Sandbox sandbox',
      route_id: 'audio_transcription-sandbox',
    });
  });

  test('a refused connection', async () => {
    await useProviders(gateway, { closed: `http://127.0.0.1:${await freePort()}` });
    const answer = await post(audio(5_000_000));
    expect([answer.status, (await json(answer)).detail.code]).toEqual([503, 'upstream_unavailable']);
    expect(outcomeOf(answer)).toBe('released');
    expect(await recordOf(idOf(answer))).toMatchObject({ provider: null, route_id: null });
  });

  test.each([
    ['{"error":{"message":"overloaded"}}', 502, 'released'],
    ['{"ok":true}', 504, 'uncertain'],
  ])('a 200 that is not a transcription: %s', async (body, status, outcome) => {
    raw.handle = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(body);
    await useProviders(gateway, { raw: raw.url });
    const answer = await post(audio());
    expect([answer.status, outcomeOf(answer)]).toEqual([status, outcome]);
  });

  test('an early answer or a broken connection before the end of the file is released', async () => {
    const server = createServer((req, res) => {
      if (req.url?.startsWith('/early'))
        res.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
      else req.once('data', () => req.socket.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    await useProviders(gateway, { early: `${url}/early` });
    const early = await post(audio(FILE_BYTES_MAX));
    expect([early.status, outcomeOf(early)]).toEqual([503, 'released']);
    await useProviders(gateway, { breaks: `${url}/breaks` });
    const broken = await post(audio(FILE_BYTES_MAX));
    expect([broken.status, outcomeOf(broken)]).toEqual([502, 'released']);
    server.close();
    server.closeAllConnections();
  });

  /** Starts a provider that a test drives by its sockets. `connected` resolves with the first socket that sends something. */
  const bareProvider = async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      onTestFinished(() => void socket.destroy());
    });
    const connected = once(server, 'connection').then(async ([socket]: Socket[]) => {
      if (socket === undefined) throw new Error('no client connected');
      await once(socket, 'readable');
      return socket;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, connected };
  };

  test.each([
    ['a broken connection', (provider: Socket) => provider.resetAndDestroy()],
    ['an answer', (provider: Socket) => provider.write('HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{"text":"hi"}')],
  ])('%s between the file and the end of the form is released', async (_name, act) => {
    const { url, connected } = await bareProvider();
    await useProviders(gateway, { bare: url });
    const req = httpRequest(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=B' },
    });
    const response = once(req, 'response');
    req.write('--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF');
    act(await connected);
    await sleep(100);
    req.end('\r\n--B--\r\n');
    const [res] = await response;
    expect(res.statusCode).toBe(502);
    expect(gateway.billing.outcomes.get(res.headers['x-request-id'])?.outcome).toBe('released');
    res.resume();
  });

  test('a provider that stops reading the file times out', async () => {
    const { url } = await bareProvider();
    await useProviders(gateway, { bare: url });
    const answer = await post(audio(20_000_000));
    expect([answer.status, outcomeOf(answer)]).toEqual([502, 'released']);
  });
});

describe('a second route', () => {
  const refuse = (status: number) => {
    raw.handle = (_req, res) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
  };
  const use = (first: string) => useProviders(gateway, { first, sandbox: `${gateway.provider.url}/v1` });

  test.each([429, 503, 500, 401])('gets the same form if the first one refused it with %i', async (status) => {
    refuse(status);
    await use(raw.url);
    const whole = await json(await post(['language', 'de'], audio(300_000), ['response_format', 'verbose_json']));
    expect(whole).toMatchObject({ language: 'de', duration: 18.75 });
    await useProviders(gateway, { sandbox: `${gateway.provider.url}/v1` });
    const direct = await json(await post(['language', 'de'], audio(300_000), ['response_format', 'verbose_json']));
    expect(whole).toEqual(direct);
  });

  const silentServer = async (): Promise<string> => {
    const server = createTcpServer((socket) => {
      // Without an answered handshake, the gateway keeps filling its buffers.
      setTimeout(() => socket.destroy(), 300);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    return `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  };

  test.each([
    ['refuses connections', async () => `http://127.0.0.1:${await freePort()}`],
    ['never completes the handshake', silentServer],
  ])('serves a file of any size if the first one %s', async (_name, first) => {
    await use(await first());
    const answer = await post(audio(20_000_000));
    expect(answer.status).toBe(200);
    expect(await recordOf(idOf(answer))).toMatchObject({
      route_id: 'audio_transcription-sandbox',
      audio_ms: 1_250_000,
    });
  });

  test('gets all bytes received while the first one was connecting, in pieces of any size', async () => {
    await use(await silentServer());
    const head = '--B\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
    const pieces = [head, ...Array.from({ length: 60 }, () => Buffer.alloc(50_000, 'a')), '\r\n--B--\r\n'];
    const answer = await fetch(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=B' },
      body: ReadableStream.from(pieces.map((piece) => Buffer.from(piece))),
      duplex: 'half',
    });
    expect(answer.status).toBe(200);
    expect(await recordOf(idOf(answer))).toMatchObject({ audio_ms: 188_000 });
  });

  test('is not tried if the file is no longer buffered, or the first one may have served it', async () => {
    refuse(503);
    await use(raw.url);
    const large = await post(audio(5_000_000));
    expect([large.status, (await json(large)).detail.code]).toEqual([503, 'upstream_unavailable']);
    expect(outcomeOf(large)).toBe('released');
    raw.handle = (req) => req.socket.destroy();
    const uncertain = await post(audio(1_000));
    expect(uncertain.status).toBe(504);
    expect(outcomeOf(uncertain)).toBe('uncertain');
  });

  test('is not tried if the request is invalid', async () => {
    refuse(400);
    await use(raw.url);
    const answer = await post(audio(1_000));
    expect((await json(answer)).detail.code).toBe('upstream_rejected');
  });
});

describe('a caller', () => {
  test('that disconnects during the file is released, and the provider serves nothing', async () => {
    gateway.provider.resetCounts();
    const before = gateway.billing.admissions.length;
    const req = httpRequest(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'multipart/form-data; boundary=B',
        'content-length': 1_000_000,
      },
    });
    req.on('error', () => {});
    req.write('--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF');
    await waitFor(() => gateway.billing.admissions.length > before);
    req.destroy();
    const id = gateway.billing.admissions.at(-1)?.request_id ?? '';
    expect(await recordOf(id)).toMatchObject({ outcome: 'released', cost_micros: 0, status: 499 });
    await sleep(50);
    expect(gateway.provider.counts().billed.requests).toBe(0);
  });

  test('that disconnects after the file is charged', async () => {
    const controller = new AbortController();
    const before = gateway.billing.admissions.length;
    const form = new FormData();
    form.append('prompt', '[[delay_ms=300]]');
    form.append('file', new Blob([Buffer.alloc(1_000)]), 'a.wav');
    const answer = fetch(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
      signal: controller.signal,
    });
    await waitFor(() => gateway.billing.admissions.length > before);
    await sleep(100);
    controller.abort();
    await expect(answer).rejects.toThrow();
    const id = gateway.billing.admissions.at(-1)?.request_id ?? '';
    expect(await recordOf(id)).toMatchObject({ outcome: 'settled', audio_ms: 1_000 });
  });

  test("may upload more slowly than the provider's timeout", async () => {
    const req = httpRequest(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=B' },
    });
    const response = once(req, 'response');
    req.write('--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF');
    await sleep(5_000);
    req.end('\r\n--B--\r\n');
    const [res] = await response;
    expect(res.statusCode).toBe(200);
    res.resume();
  });

  test('does not make the gateway buffer the file: twenty concurrent uploads of 10 MB', async () => {
    let receivedBytes = 0;
    const sink = createServer((req, res) => {
      req.on('data', (piece: Buffer) => {
        receivedBytes += piece.length;
      });
      req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"x"}'));
    });
    sink.listen(0, '127.0.0.1');
    await once(sink, 'listening');
    const address = sink.address();
    await useProviders(gateway, { sink: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` });
    const retainedBytes = (): number => {
      globalThis.gc?.();
      return process.memoryUsage().arrayBuffers;
    };
    const piece = Buffer.alloc(64 * 1024, 'a');
    const uploadAllButTheEnd = async () => {
      const req = httpRequest(`${gateway.url}${PATH}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=B' },
      });
      const response = once(req, 'response');
      req.write('--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n');
      for (let sent = 0; sent < 10_000_000; sent += piece.length) {
        if (!req.write(piece)) await once(req, 'drain');
      }
      return async (): Promise<number> => {
        req.end('\r\n--B--\r\n');
        const [res] = await response;
        res.resume();
        await once(res, 'end');
        return res.statusCode;
      };
    };
    const before = retainedBytes();
    const uploads = await Promise.all(Array.from({ length: 20 }, uploadAllButTheEnd));
    await waitFor(() => receivedBytes > 195_000_000);
    // V8 frees buffers some time after it has collected them.
    await waitFor(() => retainedBytes() - before < 20_000_000);
    expect(await Promise.all(uploads.map((end) => end()))).toEqual(Array(20).fill(200));
    sink.close();
    sink.closeAllConnections();
  });
});
