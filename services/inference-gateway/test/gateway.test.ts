import { writeFile } from 'node:fs/promises';
import { costOfTokens, newId } from '@svc/contracts';
import { freePort, waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RawProvider, startRawProvider } from './support/raw-provider.ts';
import { useProviders } from './support/routes-in-force.ts';
import {
  createKey,
  PRICE,
  provider,
  route,
  routesYaml,
  startGateway,
  type TestGateway,
} from './support/start-gateway.ts';

let gateway: TestGateway;
let raw: RawProvider;
let key: string;
let _session: string;
const userId = newId('usr');

beforeAll(async () => {
  [gateway, raw] = await Promise.all([
    startGateway({ environment: { UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '600', UPSTREAM_IDLE_TIMEOUT_MS: '600' } }),
    startRawProvider(),
  ]);
  _session = await gateway.tokens.consoleSession({ userId });
  key = await createKey(gateway, { userId, settings: { requests_per_minute: 100 } });
});
afterAll(async () => {
  await gateway.stop();
  await raw.stop();
});
afterEach(async () => {
  gateway.billing.decide = () => ({ verdict: 'admitted' });
  gateway.billing.outage = undefined;
  gateway.billing.hold = undefined;
  await useProviders(gateway, { sandbox: `${gateway.provider.url}/v1` });
});

const json = async (answer: Response) => JSON.parse(await answer.text());
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const chat = (content: string, more: object = {}, headers: Record<string, string> = {}) =>
  post('/chat/completions', { model: 'svc-chat', messages: [{ role: 'user', content }], ...more }, headers);
const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? '';
const recordOf = (requestId: string) =>
  waitFor(() => gateway.database.knex('usage_records').where({ request_id: requestId }).first());
const chunksOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('data: {'))
    .map((block) => JSON.parse(block.slice('data: '.length)));
const NAMES = [
  'schema-version',
  'provider',
  'model',
  'data-zone',
  'ingress-region',
  'upstream-request-id',
  'gateway-request-id',
  'timestamp',
];
const complianceOf = (answer: Response) =>
  Object.fromEntries(NAMES.map((name) => [name.replaceAll('-', '_'), answer.headers.get(`x-svc-compliance-${name}`)]));

describe('compliance metadata', () => {
  test.each([undefined, '2'])('is the same in headers and body in mode %s', async (mode) => {
    const answer = await chat('Hello', {}, mode === undefined ? {} : { 'x-svc-compliance': mode });
    expect(answer.status).toBe(200);
    const body = await json(answer);
    const metadata = body.extensions.compliance_metadata;
    expect(metadata).toMatchObject({
      schema_version: '2',
      provider: 'Sandbox sandbox',
      model: 'sandbox-chat-1-2026-06-01',
      data_zone: 'EU',
      ingress_region: 'test-region',
      upstream_request_id: expect.stringMatching(/^req-sandbox-/),
      gateway_request_id: idOf(answer),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      provider_raw: { headers: { 'x-request-id': metadata.upstream_request_id } },
    });
    const { provider_raw: _raw, ...core } = metadata;
    expect(complianceOf(answer)).toEqual(core);
  });

  test('of a stream is in the headers, and in a final chunk without choices before [DONE]', async () => {
    const answer = await chat('Hello [[chunks=3]]', { stream: true });
    const core = complianceOf(answer);
    expect(core['provider']).toBe('Sandbox sandbox');
    const text = await answer.text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const chunks = chunksOf(text);
    const last = chunks.at(-1);
    expect(last).toMatchObject({ object: 'chat.completion.chunk', choices: [], id: chunks[0].id });
    expect(last.extensions.compliance_metadata).toMatchObject(core);
    expect(chunks.slice(0, -1).every((chunk) => chunk.choices.length === 1)).toBe(true);
  });

  test('comes after the usage chunk, which is shown only if requested', async () => {
    const shown = chunksOf(
      await (await chat('Hello', { stream: true, stream_options: { include_usage: true } })).text(),
    );
    expect(shown.at(-2)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
    const hidden = chunksOf(await (await chat('Hello', { stream: true })).text());
    expect(hidden.some((chunk) => chunk.usage)).toBe(false);
  });

  test.each(['1', '3', 'header'])('returns 400 for mode "%s" before admission', async (mode) => {
    const before = gateway.billing.admissions.length;
    const answer = await chat('Hello', {}, { 'x-svc-compliance': mode });
    expect(answer.status).toBe(400);
    expect((await json(answer)).error).toMatchObject({ code: 'compliance_mode_unsupported' });
    expect(gateway.billing.admissions).toHaveLength(before);
  });
});

test('sends the request id in two headers with every answer, including refusals', async () => {
  const refused = (path: string, init?: RequestInit) => fetch(`${gateway.url}/v1${path}`, init);
  const answers = await Promise.all([
    chat('Hello'),
    chat('Hello [[status=400]]'),
    chat('Hello', { model: 'unknown' }),
    post('/chat/completions', '{'),
    chat('Hello', {}, { 'x-svc-compliance': '1' }),
    chat('Hello', {}, { authorization: 'Bearer unknown' }),
    refused('/models', { headers: { authorization: `Bearer ${key}` } }),
    refused('/models/unknown', { headers: { authorization: `Bearer ${key}` } }),
    refused('/chat/completions', { method: 'PUT' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 404, 400, 400, 401, 200, 404, 405]);
  for (const answer of answers) {
    expect(idOf(answer)).toMatch(/^req_/);
    expect(answer.headers.get('x-svc-compliance-gateway-request-id')).toBe(idOf(answer));
  }
});

describe('body fidelity', () => {
  const JSON_BODY =
    '{ "id":"u-1",\n  "model" : "sandbox-chat-1", "n":1.0, "t":"\\u00e9 é", "usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7},"choices":[] }\r\n';
  const EVENTS =
    ': ping\r\n\r\ndata: {"id":"u-1","model":"sandbox-chat-1", "choices":[{"index":0,"delta":{"content":"é \\u00e9"},"finish_reason":"stop"}] }\r\n\r\n' +
    'event: x\ndata: {"id":"u-1","choices":[],\ndata: "model":"sandbox-chat-1"}\n\ndata: [DONE]\n\n';

  const answerWith = (type: string, body: string) => {
    raw.handle = (_req, res) => res.writeHead(200, { 'content-type': type }).end(body);
    return useProviders(gateway, { raw: raw.url });
  };

  test('passes JSON and streams byte for byte in headers mode, with the id from the body', async () => {
    await answerWith('application/json', JSON_BODY);
    const answer = await chat('Hello', {}, { 'x-svc-compliance': 'headers' });
    expect(await answer.text()).toBe(JSON_BODY);
    expect(complianceOf(answer)).toMatchObject({ upstream_request_id: 'u-1', model: 'sandbox-chat-1' });
    await answerWith('text/event-stream', EVENTS);
    const stream = await chat('Hello', { stream: true }, { 'x-svc-compliance': 'headers' });
    expect(await stream.text()).toBe(EVENTS);
    expect(complianceOf(stream)).toMatchObject({ upstream_request_id: 'u-1' });
  });

  test.each(['data: [DONE]', 'data: [DONE]\n', 'data: [DONE]\r\n', 'data: [DONE]\r'])(
    'adds only the missing line ends to a stream that ends in %j in headers mode',
    async (end) => {
      await answerWith('text/event-stream', EVENTS.replace('data: [DONE]\n\n', end));
      const stream = await chat('Hello', { stream: true }, { 'x-svc-compliance': 'headers' });
      const missing = end.endsWith(']') ? '\n\n' : end.slice('data: [DONE]'.length);
      expect(await stream.text()).toBe(EVENTS.replace('data: [DONE]\n\n', end + missing));
    },
  );

  test('adds only the extension in full mode', async () => {
    await answerWith('application/json', JSON_BODY);
    const text = await (await chat('Hello')).text();
    expect(text.replace(/,"extensions":\{"compliance_metadata":\{[^}]*\}\}/, '')).toBe(JSON_BODY);
    await answerWith('text/event-stream', EVENTS);
    const events = await (await chat('Hello', { stream: true })).text();
    expect(events.replace(/data: \{[^\n]*"extensions"[^\n]*\n\n/, '')).toBe(EVENTS);
  });

  test('returns 504 if the extensions of the provider are damaged', async () => {
    await answerWith('application/json', '{"id":"u-1","model":"sandbox-chat-1","extensions":{"a":1,]},"choices":[]}');
    const answer = await chat('Hello');
    expect([answer.status, (await json(answer)).error.code]).toEqual([504, 'upstream_timeout_uncertain']);
  });

  test('changes only the model in the request', async () => {
    await answerWith('application/json', JSON_BODY);
    const sent = '{ "messages":[{"role":"user","content":"\\u00e9 é"}], "model":"svc-chat","x_vendor":{"a":1.50} }';
    await (await post('/chat/completions', sent)).text();
    expect(raw.bodies.at(-1)?.toString()).toBe(sent.replace('svc-chat', 'sandbox-chat-1'));
  });
});

describe('attribution', () => {
  test.each([
    ['[[model=other]]', 'provider_attribution_ambiguous'],
    ['[[no_request_id]] [[no_id]]', 'compliance_metadata_missing'],
  ])('returns 502 at no cost for %s', async (directive, code) => {
    for (const stream of [false, true]) {
      const answer = await chat(`Hello ${directive}`, { stream });
      expect([answer.status, (await json(answer)).error.code]).toEqual([502, code]);
      expect(await recordOf(idOf(answer))).toMatchObject({ outcome: 'settled', cost_micros: 0, status: 502 });
    }
  });

  test('breaks a stream off at a chunk that names another model', async () => {
    const named = (model: string | undefined, content: string) =>
      `data: ${JSON.stringify({ id: 'u-1', model, choices: [{ index: 0, delta: { content } }] })}\n\n`;
    raw.handle = (_req, res) =>
      res
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(
          `${named('sandbox-chat-1', 'one')}${named('sandbox-chat-1', 'two')}${named(undefined, 'three')}` +
            `${named('', 'four')}${named('sandbox-chat-1-eu', 'five')}${named('other', 'six')}data: [DONE]\n\n`,
        );
    await useProviders(gateway, { raw: raw.url });
    for (const mode of ['2', 'headers']) {
      const answer = await chat('Hello', { stream: true }, { 'x-svc-compliance': mode });
      const text = await answer.text();
      expect(text).toContain('five');
      expect(text).not.toMatch(/six|DONE|compliance_metadata/);
      expect(chunksOf(text).at(-1).error.code).toBe('provider_attribution_ambiguous');
      expect((await recordOf(idOf(answer))).outcome).toBe('uncertain');
    }
  });

  test('returns an error for two contradicting request ids', async () => {
    raw.handle = (_req, res) =>
      res
        .writeHead(200, [
          ['content-type', 'application/json'],
          ['x-request-id', 'a'],
          ['x-request-id', 'b'],
        ])
        .end('{"id":"x","model":"sandbox-chat-1","choices":[]}');
    await useProviders(gateway, { raw: raw.url });
    expect((await json(await chat('Hello'))).error.code).toBe('provider_attribution_ambiguous');
  });

  test.each(['sandbox-chat-1', 'vendor/sandbox-chat-1', 'sandbox-chat-1:eu'])(
    'accepts %s as the model of its route',
    async (model) => {
      const answer = await chat(`Hello [[model=${model}]]`);
      expect(answer.headers.get('x-svc-compliance-model')).toBe(model);
      await answer.text();
    },
  );
});

describe('other endpoints', () => {
  test('serve legacy completions as JSON and streams', async () => {
    const answer = await post('/completions', { model: 'svc-completion', prompt: 'Hello' });
    expect(await json(answer)).toMatchObject({
      object: 'text_completion',
      extensions: { compliance_metadata: { model: 'sandbox-completion-1-2026-06-01' } },
    });
    const stream = await post('/completions', { model: 'svc-completion', prompt: 'Hello', stream: true });
    const chunks = chunksOf(await stream.text());
    expect(chunks.at(-1)).toMatchObject({ object: 'text_completion', choices: [] });
    expect(await recordOf(idOf(stream))).toMatchObject({ service: 'completions', streamed: true, outcome: 'settled' });
  });

  test('serve embeddings', async () => {
    const answer = await post('/embeddings', { model: 'svc-embedding', input: ['Hello', 'World'] });
    const body = await json(answer);
    expect(body.data).toHaveLength(2);
    expect(body.extensions.compliance_metadata.provider).toBe('Sandbox sandbox');
    const record = await recordOf(idOf(answer));
    expect(record.cost_micros).toBe(costOfTokens(PRICE, { input: body.usage.prompt_tokens, output: 0 }));
  });

  test('list the models with a certified route, except audio', async () => {
    const answer = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    const body = await json(answer);
    expect(body.object).toBe('list');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['svc-chat', 'svc-completion', 'svc-embedding']);
    const price = { ...PRICE, cached_input_micros_per_million: PRICE.input_micros_per_million };
    expect(body.data[0]).toMatchObject({ max_output_tokens: 4096, price: { ...price, currency: 'EUR' } });
    const prices = await json(await fetch(`${gateway.url}/v1/gateway/prices`));
    expect(prices.data[0]).toEqual({ id: 'svc-chat', service: 'chat', max_output_tokens: 4096, price });
    expect(prices.delegated.chat).toEqual(price);
  });

  test('return a model with a slash in its id, encoded or not', async () => {
    const routes = [route('acme-eu', { model: 'acme/eu-chat-1', provider: 'sandbox' })];
    const providers = [provider('sandbox', `${gateway.provider.url}/v1`)];
    await writeFile(gateway.routesFile, routesYaml({ providers, routes }));
    expect(await gateway.reload()).toBe(true);
    for (const name of ['acme%2Feu-chat-1', 'acme/eu-chat-1']) {
      const answer = await fetch(`${gateway.url}/v1/models/${name}`, { headers: { authorization: `Bearer ${key}` } });
      expect([answer.status, (await json(answer)).id]).toEqual([200, 'acme/eu-chat-1']);
    }
    await writeFile(gateway.routesFile, gateway.routesText);
    expect(await gateway.reload()).toBe(true);
  });

  test.each(['%ff', '%', 'nothing', 'no/thing'])('return 404 for the unknown model %s', async (name) => {
    const answer = await fetch(`${gateway.url}/v1/models/${name}`, { headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(404);
    expect((await json(answer)).error).toMatchObject({ type: expect.any(String), code: expect.any(String) });
    expect(answer.headers.get('x-svc-compliance-gateway-request-id')).toBe(idOf(answer));
  });
});

describe('admission', () => {
  test('releases the hold of a caller that disconnects, and forwards nothing', async () => {
    const served = gateway.provider.counts().requests;
    const admitted = gateway.billing.admissions.length;
    const admission = Promise.withResolvers<void>();
    const decision = Promise.withResolvers<void>();
    gateway.billing.hold = () => {
      admission.resolve();
      return decision.promise;
    };
    const gone = new AbortController();
    const answer = fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      signal: gone.signal,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await admission.promise;
    gone.abort();
    await expect(answer).rejects.toThrow();
    await waitFor(() => gateway.logs().includes('"status":499'));
    decision.resolve();
    await waitFor(() => gateway.billing.admissions.length > admitted);
    expect(await recordOf(gateway.billing.admissions.at(-1)?.request_id ?? '')).toMatchObject({ outcome: 'released' });
    expect(gateway.provider.counts().requests).toBe(served);
  });

  const admissionOf = (answer: Response) =>
    gateway.billing.admissions.find(({ request_id }) => request_id === idOf(answer));

  test('holds the maximum cost of the request', async () => {
    const answer = await chat('Hello', { max_tokens: 100, n: 3 });
    await answer.text();
    const admission = admissionOf(answer);
    const record = await recordOf(idOf(answer));
    expect(admission).toMatchObject({ kind: 'api_key', svc_user_id: userId, limits: { requests_per_minute: 100 } });
    expect(admission?.kind === 'api_key' && admission.hold_micros).toBeGreaterThanOrEqual(
      Math.max(record.cost_micros, costOfTokens(PRICE, { input: 0, output: 300 })),
    );
    // Providers differ in which of the two limits they apply.
    const both = await chat('[[completion_tokens=9000]]', { max_completion_tokens: 10, max_tokens: 9_000 });
    await both.text();
    const held = admissionOf(both);
    expect(held?.kind === 'api_key' && held.hold_micros).toBeGreaterThanOrEqual(
      (await recordOf(idOf(both))).cost_micros,
    );
  });

  test('counts text that looks like an image as text', async () => {
    const text = `data:image/png;base64,${'word '.repeat(2_000)}`;
    const answer = await chat(text, { max_tokens: 1 });
    await answer.text();
    const admission = admissionOf(answer);
    expect(admission?.kind === 'api_key' && admission.hold_micros).toBeGreaterThanOrEqual(
      costOfTokens(PRICE, { input: text.length, output: 1 }),
    );
  });

  test('returns the rate limit headers', async () => {
    gateway.billing.decide = () => ({ verdict: 'granted', requests_left: 99, minute_ends_in_ms: 1_500 });
    const answer = await chat('Hello');
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('100');
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('99');
    expect(answer.headers.get('x-ratelimit-reset-requests')).toMatch(/^1\.[1-5]\d*s$/);
    await answer.text();
  });

  test.each([
    ['insufficient_balance', 402],
    ['key_monthly_limit_exceeded', 402],
    ['member_monthly_limit_exceeded', 402],
    ['rate_limit_exceeded', 429],
  ] as const)('refused with %s returns %i and forwards nothing', async (verdict, status) => {
    gateway.provider.resetCounts();
    gateway.billing.decide = () => ({ verdict, requests_left: 0, minute_ends_in_ms: 1_500 });
    const answer = await chat('Hello');
    expect(answer.status).toBe(status);
    expect((await json(answer)).error.code).toBe(verdict);
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(answer.headers.get('retry-after')).toBe(status === 429 ? '2' : null);
    expect(gateway.provider.counts().requests).toBe(0);
  });

  test('publishes the first refusal by the monthly limit of a key, once in the month', async () => {
    const limited = await createKey(gateway, { userId, settings: { name: 'Nightly', monthly_limit_micros: 5_000 } });
    const facts = () =>
      gateway.database
        .knex('outbox')
        .where({ subject: 'inference.key.limit_reached.v1' })
        .orderBy('seq')
        .select('aggregate', 'payload');
    const refuse = async (resets_at: string) => {
      gateway.billing.decide = () => ({ verdict: 'key_monthly_limit_exceeded', resets_at });
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => chat('Hello', {}, { authorization: `Bearer ${limited}` })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(402));
    };
    await refuse('2026-12-01T00:00:00.000Z');
    // The request before it is settled only now.
    const { id } = await gateway.database.knex('api_keys').where({ name: 'Nightly' }).first();
    gateway.billing.spent.set(id, 4_800);
    await waitFor(async () => (await facts()).length === 1);
    await refuse('2026-12-01T00:00:00.000Z');
    await refuse('2027-01-01T00:00:00.000Z');
    await waitFor(async () => (await facts()).length === 2);
    const [first, second] = await facts();
    expect(first.payload).toMatchObject({
      svc_user_id: userId,
      name: 'Nightly',
      spent_micros: 4_800,
      limit_micros: 5_000,
      resets_at: '2026-12-01T00:00:00.000Z',
    });
    expect(second.payload).toMatchObject({ key_id: first.payload.key_id, resets_at: '2027-01-01T00:00:00.000Z' });
  });

  test('returns 503 and forwards nothing if billing fails', async () => {
    gateway.provider.resetCounts();
    gateway.billing.outage = 500;
    const answer = await chat('Hello');
    expect([answer.status, (await json(answer)).error.code]).toEqual([503, 'service_unavailable']);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(gateway.provider.counts().requests).toBe(0);
  });
});

describe('invalid requests', () => {
  test.each([
    ['/chat/completions', {}, 'model'],
    ['/chat/completions', { model: 'svc-chat' }, 'messages'],
    ['/chat/completions', { model: 'svc-chat', messages: [] }, 'messages'],
    ['/completions', { prompt: 'x' }, 'model'],
    ['/embeddings', { input: 'x' }, 'model'],
    ['/chat/completions', '{"model":', null],
    ['/chat/completions', '[]', null],
    ['/chat/completions', '', null],
    ['/chat/completions', '{"model":"svc-chat","model":"x","messages":[{}]}', 'model'],
  ])('return 400 for %s %j', async (path, body, param) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(400);
    expect((await json(answer)).error).toMatchObject({ type: 'invalid_request_error', param });
  });

  test('return 404 for an unknown model, or one of another service', async () => {
    const unknown = await chat('Hello', { model: 'unknown' });
    expect([unknown.status, (await json(unknown)).error]).toMatchObject([
      404,
      { code: 'model_not_found', param: 'model' },
    ]);
    const elsewhere = await post('/embeddings', { model: 'svc-chat', input: 'x' });
    expect([elsewhere.status, (await json(elsewhere)).error.message]).toEqual([
      404,
      'The model svc-chat is not served here, but at /v1/chat/completions and /v1/responses.',
    ]);
  });

  test('return 413 for a body beyond 32 MiB', async () => {
    const answer = await chat('x'.repeat(33 * 1024 * 1024));
    expect([answer.status, (await json(answer)).error.code]).toEqual([413, 'payload_too_large']);
  });
});

describe('failures of the provider', () => {
  test.each([
    ['[[status=400]]', 400, null],
    ['[[status=404]]', 404, null],
    ['[[status=422]]', 422, null],
    ['[[status=401]]', 502, 'upstream_error'],
    ['[[status=403]]', 502, 'upstream_error'],
    ['[[status=429]] [[retry_after=9]]', 503, 'upstream_unavailable'],
    ['[[status=500]]', 503, 'upstream_unavailable'],
    ['[[status=503]] [[retry_after=9]]', 503, 'upstream_unavailable'],
    ['[[delay_ms=2000]]', 504, 'upstream_timeout_uncertain'],
    ['[[reset]]', 504, 'upstream_timeout_uncertain'],
    ['[[garbage]]', 504, 'upstream_timeout_uncertain'],
  ])('%s', async (directive, status, code) => {
    const answer = await chat(directive);
    expect(answer.status).toBe(status);
    const { error } = await json(answer);
    if (code === null) expect(error.message.length).toBeGreaterThan(5);
    else expect(error.code).toBe(code);
    expect(answer.headers.get('retry-after')).toBe(directive.includes('retry_after') ? '9' : null);
    // The record names the provider that received the request, even though it did not serve it.
    expect(await recordOf(idOf(answer))).toMatchObject({
      outcome: status === 504 ? 'uncertain' : 'released',
      status,
      provider: 'Sandbox sandbox',
      route_id: 'chat-sandbox',
      data_zone: 'EU',
    });
  });

  test.each([
    [503, { 'retry-after': '7' }, { answered: 503, code: 'upstream_unavailable', outcome: 'released' }],
    [503, {}, { answered: 504, code: 'upstream_timeout_uncertain', outcome: 'uncertain' }],
    [500, { 'retry-after': '7' }, { answered: 504, code: 'upstream_timeout_uncertain', outcome: 'uncertain' }],
  ])('a %i without an error body and with %o', async (status, headers, { answered, code, outcome }) => {
    raw.handle = (_req, res) => res.writeHead(status, headers).end('down');
    await useProviders(gateway, { raw: raw.url });
    const answer = await chat('Hello');
    expect([answer.status, (await json(answer)).error.code]).toEqual([answered, code]);
    expect(answer.headers.get('retry-after')).toBe(answered === 503 ? '7' : null);
    expect((await recordOf(idOf(answer))).outcome).toBe(outcome);
  });

  test.each(['{"error":{"message":"overloaded"}}', '{"object":"error","message":"overloaded"}'])(
    'a 200 with an error body: %s',
    async (body) => {
      raw.handle = (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(body);
      await useProviders(gateway, { raw: raw.url });
      const answer = await chat('Hello');
      expect([answer.status, (await json(answer)).error.code]).toEqual([503, 'upstream_unavailable']);
      expect((await recordOf(idOf(answer))).outcome).toBe('released');
      await useProviders(gateway, { raw: raw.url, sandbox: `${gateway.provider.url}/v1` });
      const served = await chat('Hello');
      expect(served.headers.get('x-svc-compliance-provider')).toBe('Sandbox sandbox');
      await served.text();
    },
  );

  test.each([
    ['text/plain; charset=utf-8', 'temperature is out of range\n', 'temperature is out of range'],
    ['text/html', '<p>temperature is out of range</p>', 'The provider refused the request.'],
    ['text/plain', ' ', 'The provider refused the request.'],
  ])('a 400 in %s: %j', async (type, body, message) => {
    raw.handle = (_req, res) => res.writeHead(400, { 'content-type': type }).end(body);
    await useProviders(gateway, { raw: raw.url });
    const answer = await chat('Hello');
    expect([answer.status, (await json(answer)).error.message]).toEqual([400, message]);
  });

  test('a refused connection, alone and with a second route', async () => {
    const closed = `http://127.0.0.1:${await freePort()}`;
    await useProviders(gateway, { closed });
    const refused = await chat('Hello');
    expect((await json(refused)).error.code).toBe('upstream_unavailable');
    expect(await recordOf(idOf(refused))).toMatchObject({ provider: null, route_id: null });
    await useProviders(gateway, { closed, sandbox: `${gateway.provider.url}/v1` });
    const answer = await chat('Hello');
    expect(answer.headers.get('x-svc-compliance-provider')).toBe('Sandbox sandbox');
    await answer.text();
  });

  test('a 429 with Retry-After, followed by a refused connection of the next route', async () => {
    raw.handle = (_req, res) => res.writeHead(429, { 'retry-after': '7' }).end('{"error":{"message":"busy"}}');
    await useProviders(gateway, { raw: raw.url, closed: `http://127.0.0.1:${await freePort()}` });
    const answer = await chat('Hello');
    expect([answer.status, (await json(answer)).error.code]).toEqual([503, 'upstream_unavailable']);
    expect(answer.headers.get('retry-after')).toBe('7');
  });

  test('a stream that breaks off: ends with an error event and without [DONE]', async () => {
    const answer = await chat('Hello [[chunks=4]] [[drop_after=2]]', { stream: true });
    const text = await answer.text();
    expect(text).not.toContain('[DONE]');
    expect(chunksOf(text).at(-1).error).toMatchObject({ type: 'server_error', code: 'upstream_timeout_uncertain' });
    expect((await recordOf(idOf(answer))).outcome).toBe('uncertain');
  });
});
