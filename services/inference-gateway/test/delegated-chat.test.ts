import { costOfTokens } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { PRICE, startGateway, type TestGateway } from './support/start-gateway.ts';

const PATH = '/v1/integrations/inference/chat/completions';
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  gateway = await startGateway();
  token = await gateway.tokens.accessToken();
});
afterAll(() => gateway.stop());
afterEach(() => {
  gateway.billing.decide = () => ({ verdict: 'admitted' });
  gateway.billing.outage = undefined;
});

const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const ask = (content: string, more: object = {}, headers: Record<string, string> = {}) =>
  post({ messages: [{ role: 'user', content }], ...more }, headers);
const json = async (answer: Response) => JSON.parse(await answer.text());
const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? '';
const recordOf = (requestId: string) =>
  waitFor(() => gateway.database.knex('usage_records').where({ request_id: requestId }).first());
const chunksOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('data: {'))
    .map((block) => JSON.parse(block.slice('data: '.length)));

describe('success: JSON', () => {
  test('answers in the common wire format under the public identity', async () => {
    const answer = await ask('Hello');
    expect(answer.status).toBe(200);
    const body = await json(answer);
    expect(body).toMatchObject({ object: 'chat.completion', model: 'svc', id: `chatcmpl-${idOf(answer).slice(4)}` });
    expect(Object.keys(body).sort()).toEqual(['choices', 'created', 'id', 'model', 'object', 'usage']);
    expect(body.choices[0].message.role).toBe('assistant');
    expect(JSON.stringify(body) + JSON.stringify([...answer.headers])).not.toMatch(/sandbox/i);
  });

  test('settles the cost before the last byte, and records it with its fact', async () => {
    const answer = await ask('Hello [[prompt_tokens=1000]] [[completion_tokens=501]]');
    await json(answer);
    const cost = costOfTokens(PRICE, { input: 1000, output: 501 });
    expect(gateway.billing.outcomes.get(idOf(answer))).toEqual({ outcome: 'settled', cost_micros: cost });
    expect(await recordOf(idOf(answer))).toMatchObject({
      kind: 'delegated',
      route_id: 'chat-eu',
      input_tokens: 1000,
      output_tokens: 501,
      cost_micros: cost,
      outcome: 'settled',
      is_estimated: false,
    });
    const rows = await gateway.database.knex('outbox').whereRaw('payload::text LIKE ?', [`%${idOf(answer)}%`]);
    expect(rows).toHaveLength(1);
    expect(rows[0].payload.records[0]).toMatchObject({
      request_id: idOf(answer),
      outcome: 'settled',
      cost_micros: cost,
    });
  });

  test('forwards every field of the request, and returns tool calls', async () => {
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: {} } }];
    const answer = await ask('[[tool_call=look_up]] x', { tools, tool_choice: 'auto', temperature: 0.5, seed: 1 });
    const body = await json(answer);
    expect(body.choices[0].message.tool_calls[0]).toMatchObject({ type: 'function', function: { name: 'look_up' } });
    expect(body.choices[0].finish_reason).toBe('tool_calls');
  });

  test('accepts an integer beyond the safe range of JavaScript, such as a 64-bit seed', async () => {
    const withSeed = (seed: string) => post(`{"messages":[{"role":"user","content":"x"}],"seed":${seed}}`);
    const answer = await withSeed('-9223372036854775808');
    expect(answer.status).toBe(200);
    await answer.text();
    const infinite = await withSeed('1e400');
    expect((await json(infinite)).detail).toEqual([
      { loc: ['body', 'seed'], type: 'int_type', msg: 'Input should be a valid integer' },
    ]);
  });

  test('settles an answer without usage at the estimate', async () => {
    const answer = await ask('Hello [[no_usage]]');
    expect((await json(answer)).usage).toBeUndefined();
    const record = await recordOf(idOf(answer));
    expect(record).toMatchObject({ is_estimated: true, outcome: 'settled' });
    expect(record.cost_micros).toBe(costOfTokens(PRICE, { input: record.input_tokens, output: record.output_tokens }));
    expect(record.cost_micros).toBeGreaterThan(0);
  });

  test('admits the request under its own id', async () => {
    const answer = await ask('Hello', { max_tokens: 10 }, { 'idempotency-key': 'once' });
    const admission = gateway.billing.admissions.at(-1);
    expect(admission).toMatchObject({
      kind: 'delegated',
      request_id: idOf(answer),
      service: 'chat',
      idempotency_key: 'once',
    });
    await answer.text();
  });
});

describe('the estimate of a request', () => {
  const estimateOf = async (limits: object): Promise<number> => {
    await (await ask('Hello', limits)).text();
    const admission = gateway.billing.admissions.at(-1);
    return admission?.kind === 'delegated' ? admission.estimate_micros : 0;
  };

  test('uses the larger of two output limits, and ignores null', async () => {
    const large = await estimateOf({ max_completion_tokens: 90_000 });
    expect(large).toBeGreaterThan(await estimateOf({}));
    // A longer body adds some input tokens.
    expect(await estimateOf({ max_completion_tokens: 5, max_tokens: 90_000 })).toBeGreaterThanOrEqual(large);
    expect(await estimateOf({ max_completion_tokens: 90_000, max_tokens: 5 })).toBeGreaterThanOrEqual(large);
    expect(await estimateOf({ max_completion_tokens: null, max_tokens: 90_000 })).toBeGreaterThanOrEqual(large);
  });
});

describe("the hold of an app's budget", () => {
  const holdsOf = async (more: object) => {
    await (await ask('Hello', more)).text();
    const admission = gateway.billing.admissions.at(-1);
    if (admission?.kind !== 'delegated') throw new Error('no admission');
    return { hold: admission.hold_micros ?? 0, holdMin: admission.hold_min_micros };
  };
  const outputPrice = (tokens: number): number => costOfTokens(PRICE, { input: 0, output: tokens });

  test('is the maximum cost, and may shrink to that of 256 output tokens if the caller sets no limit', async () => {
    const limited = await holdsOf({ max_tokens: 1_000 });
    expect(limited.holdMin).toBeUndefined();
    expect(limited.hold).toBeGreaterThanOrEqual(outputPrice(1_000));
    const { hold, holdMin = 0 } = await holdsOf({});
    expect(hold - holdMin).toBe(outputPrice(4_096 - 256));
  });

  test.each([false, true])('limits the output if it covers less than the default (stream: %s)', async (stream) => {
    gateway.billing.decide = (request) => ({
      verdict: 'admitted',
      ...(request.kind === 'delegated' ? { hold_micros: (request.hold_min_micros ?? 0) + outputPrice(44) } : {}),
    });
    const answer = await ask(`[[echo]] ${'word '.repeat(1_000)}`, { stream });
    await answer.text();
    const { output_tokens } = await recordOf(idOf(answer));
    expect(output_tokens).toBe(300);
  });

  test('does not limit the output if it covers the default', async () => {
    gateway.billing.decide = (request) => ({
      verdict: 'admitted',
      ...(request.kind === 'delegated' ? { hold_micros: request.hold_micros } : {}),
    });
    const answer = await ask('[[completion_tokens=5000]]');
    await answer.text();
    expect(await recordOf(idOf(answer))).toMatchObject({ output_tokens: 5_000 });
  });
});

describe('success: stream', () => {
  test('sends chunks under the public identity, without usage, and [DONE] last', async () => {
    const answer = await ask('Hello [[chunks=5]]', { stream: true });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await answer.text();
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const chunks = chunksOf(text);
    expect(chunks.length).toBeGreaterThan(5);
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({ object: 'chat.completion.chunk', model: 'svc' });
      expect(Object.keys(chunk).sort()).toEqual(['choices', 'created', 'id', 'model', 'object']);
      expect(chunk.choices).toHaveLength(1);
    }
    expect(text).not.toMatch(/sandbox|usage/i);
    expect(gateway.billing.states.get(idOf(answer))).toBe('settled');
  });

  test('shows the usage chunk if requested', async () => {
    const answer = await ask('Hello', { stream: true, stream_options: { include_usage: true } });
    const last = chunksOf(await answer.text()).at(-1);
    expect(last).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
  });

  test.each([1, 2, 3, 7, 64])('relays the same text if it arrives in pieces of %i bytes', async (bytes) => {
    const prompt = 'Straße 日本 🙂 [[echo]] [[chunks=4]]';
    const answer = await ask(`${prompt} [[fragment_bytes=${bytes}]]`, { stream: true });
    const text = chunksOf(await answer.text())
      .map((chunk) => chunk.choices[0].delta.content ?? '')
      .join('');
    expect(text).toBe('Straße 日本 🙂');
  });

  test('adds [DONE] to a stream that ends after its finish reason without one', async () => {
    const answer = await ask('Hello [[no_done]]', { stream: true });
    expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect(gateway.billing.states.get(idOf(answer))).toBe('settled');
  });

  test('settles the counted output if the provider reports no usage', async () => {
    const answer = await ask('Hello [[no_usage]] [[answer_tokens=40]]', { stream: true });
    await answer.text();
    expect(await recordOf(idOf(answer))).toMatchObject({ is_estimated: true, output_tokens: 40, outcome: 'settled' });
  });

  test("settles the same sum as the provider's own count", async () => {
    gateway.provider.resetCounts();
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const answer = await ask(`Question ${index} [[chunks=3]]`, { stream: index % 2 === 0 });
        await answer.text();
        return idOf(answer);
      }),
    );
    const records = await Promise.all(answers.map(recordOf));
    const sum = (name: string): number => records.reduce((total, record) => total + Number(record[name]), 0);
    expect(gateway.provider.counts().billed).toMatchObject({
      requests: 20,
      input_tokens: sum('input_tokens'),
      output_tokens: sum('output_tokens'),
    });
  });
});

describe('returns 422 for', () => {
  const messages = [{ role: 'user', content: 'Hello' }];
  test.each([
    ['no messages', {}, ['body', 'messages'], 'missing'],
    ['an empty list of messages', { messages: [] }, ['body', 'messages'], 'too_short'],
    ['a model', { messages, model: 'gpt' }, ['body', 'model'], 'extra_forbidden'],
    ['metadata', { messages, metadata: {} }, ['body', 'metadata'], 'extra_forbidden'],
    ['a negative limit', { messages, max_tokens: 0 }, ['body', 'max_tokens'], 'greater_than'],
    ['a string instead of a number', { messages, temperature: 'hot' }, ['body', 'temperature'], 'float_type'],
    ['a string instead of a boolean', { messages, stream: 'yes' }, ['body', 'stream'], 'bool_type'],
    ['invalid JSON', '{"messages":', ['body'], 'json_invalid'],
    ['an escaped model', '{"messages":[{}],"mod\\u0065l":"x"}', ['body', 'model'], 'extra_forbidden'],
    ['a prototype', '{"messages":[{}],"__proto__":{"model":"x"}}', ['body', '__proto__'], 'extra_forbidden'],
    ['a repeated property', '{"messages":[{}],"messages":[{}]}', ['body', 'messages'], 'value_error'],
    [
      'a repeated option',
      '{"messages":[{}],"stream_options":{"include_usage":false,"include_usage":true}}',
      ['body', 'stream_options', 'include_usage'],
      'value_error',
    ],
    ['an empty body', '', ['body'], 'missing'],
  ])('%s', async (_name, body, loc, type) => {
    const answer = await post(body);
    expect(answer.status).toBe(422);
    expect((await json(answer)).detail).toContainEqual(expect.objectContaining({ loc, type }));
  });

  test.each(['messages', 'tools', 'stop'])(
    '400,000 invalid items in %s, with at most a hundred faults',
    async (name) => {
      const first = name === 'messages' ? '' : '"messages":[{}],';
      const answer = await post(`{${first}"${name}":[${'1,'.repeat(400_000)}1]}`);
      expect(answer.status).toBe(422);
      const { detail } = await json(answer);
      expect(detail.length).toBeLessThanOrEqual(100);
      expect(detail[0].loc.slice(0, 2)).toEqual(['body', name]);
    },
  );

  test('bytes that are not UTF-8', async () => {
    const answer = await fetch(`${gateway.url}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: Buffer.from('7b226d65737361676573223a5b7b2263223a22ff227d5d7d', 'hex'),
    });
    expect(answer.status).toBe(422);
  });

  test('an invalid body before admission', async () => {
    const before = gateway.billing.admissions.length;
    expect((await post({ messages: [] })).status).toBe(422);
    expect(gateway.billing.admissions).toHaveLength(before);
  });
});

test('returns 415 for another media type', async () => {
  expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
});

describe('authorization', () => {
  test('refuses a missing or invalid token, and one without the scope', async () => {
    const send = (authorization?: string) =>
      fetch(`${gateway.url}${PATH}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) },
        body: '{}',
      });
    expect((await json(await send())).detail.code).toBe('not_authenticated');
    expect((await json(await send('Bearer x'))).detail.code).toBe('invalid_token');
    const narrow = await gateway.tokens.accessToken({ scope: 'usage:read' });
    const answer = await send(`Bearer ${narrow}`);
    expect(answer.status).toBe(403);
    expect((await json(answer)).detail.code).toBe('insufficient_scope');
  });
});

describe('a refusal by billing', () => {
  const resets_at = '2026-12-01T00:00:00.000Z';
  test.each([
    ['weekly_limit_exceeded', 402],
    ['monthly_limit_exceeded', 402],
    ['subscription_inactive', 402],
    ['subscription_service_not_included', 403],
    ['subscription_requests_pending', 429],
    ['connection_paused', 403],
    ['app_budget_expired', 402],
    ['app_limit_exceeded', 402],
    ['app_requests_pending', 429],
  ] as const)('with %s returns %i and forwards nothing', async (verdict, status) => {
    gateway.provider.resetCounts();
    gateway.billing.decide = () => ({ verdict, resets_at });
    const answer = await ask('Hello');
    expect(answer.status).toBe(status);
    expect((await json(answer)).detail).toMatchObject({ code: verdict, resets_at });
    // Retry-After only makes sense for refusals that soon pass.
    expect(answer.headers.get('retry-after')).toBe(status === 429 ? '1' : null);
    expect(gateway.provider.counts().requests).toBe(0);
  });

  test.each([
    ['subscription_inactive', '/plans'],
    ['connection_paused', '/connections'],
    ['app_budget_expired', '/connections'],
    ['app_limit_exceeded', '/connections'],
  ] as const)('names the page that lifts %s', async (verdict, page) => {
    gateway.billing.decide = () => ({ verdict });
    const { detail } = await json(await ask('Hello'));
    expect(detail.manage_url).toBe(`${gateway.tokens.publicBaseUrl}${page}`);
    expect(detail.resets_at).toBe(verdict === 'app_limit_exceeded' ? null : undefined);
  });

  test('of a duplicate names the first request', async () => {
    const first = { request_id: `req_${'0'.repeat(26)}`, state: 'reserved' as const };
    gateway.billing.decide = () => ({ verdict: 'duplicate_request', duplicate_of: first });
    const answer = await ask('Hello');
    expect(answer.status).toBe(409);
    expect((await json(answer)).detail).toMatchObject({ code: 'duplicate_request', ...first });
    // Common SDKs retry every other 409.
    expect(answer.headers.get('x-should-retry')).toBe('false');
  });

  test.each([0, 500, 404, 401])('is a 503 if billing fails with %i, and nothing is forwarded', async (outage) => {
    gateway.provider.resetCounts();
    gateway.billing.outage = outage;
    const answer = await ask('Hello');
    expect(answer.status).toBe(503);
    expect((await json(answer)).detail.code).toBe('service_unavailable');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(gateway.provider.counts().requests).toBe(0);
    expect(await recordOf(idOf(answer))).toMatchObject({ outcome: 'released', cost_micros: 0 });
  });
});

describe('capabilities', () => {
  const capabilities = () =>
    fetch(`${gateway.url}/v1/integrations/inference/capabilities`, { headers: { authorization: `Bearer ${token}` } });

  test('lists the services that the server offers and the plan includes', async () => {
    expect(await json(await capabilities())).toEqual({
      object: 'capabilities',
      services: { chat: true, audio_transcription: true },
    });
    gateway.billing.services = { chat: true, audio_transcription: false };
    expect((await json(await capabilities())).services).toEqual({ chat: true, audio_transcription: false });
  });

  test('returns 503 if billing fails', async () => {
    gateway.billing.outage = 500;
    expect((await capabilities()).status).toBe(503);
  });
});

test('records nothing of a request that is refused because too many of its account wait', async () => {
  const held = Promise.withResolvers<void>();
  gateway.billing.hold = () => held.promise;
  const refused: string[] = [];
  const asked = Array.from({ length: 600 }, async () => {
    const answer = await ask('Hello');
    if (answer.status === 503) refused.push(idOf(answer));
    await answer.text();
    return answer;
  });
  await waitFor(() => refused.length > 0);
  const unsent = [...refused];
  held.resolve();
  gateway.billing.hold = undefined;
  await Promise.all(asked);
  const last = await ask('Hello');
  await recordOf(idOf(last));
  expect(await gateway.database.knex('usage_records').whereIn('request_id', unsent)).toEqual([]);
});
