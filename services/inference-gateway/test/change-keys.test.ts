import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let session: string;
let now: () => number = Date.now;
const userId = newId('usr');

beforeAll(async () => {
  gateway = await startGateway({ clock: () => now() });
  session = await gateway.tokens.consoleSession({ userId });
});
afterAll(() => gateway.stop());
afterEach(() => {
  now = Date.now;
  gateway.billing.outage = undefined;
  gateway.billing.decide = () => ({ verdict: 'admitted' });
});

const json = async (answer: Response) => JSON.parse(await answer.text());
const call = (method: string, path: string, body?: unknown, token = session) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const create = async (fields: object = {}) =>
  json(await call('POST', '/v1/gateway/keys', { name: 'A key', ...fields }));
const patch = (id: string, body: object, token = session) => call('PATCH', `/v1/gateway/keys/${id}`, body, token);
const rotate = (id: string, body?: object, token = session) =>
  call('POST', `/v1/gateway/keys/${id}/rotate`, body, token);
const models = (key: string) => call('GET', '/v1/models', undefined, key);
const chat = (key: string, headers: Record<string, string> = {}, more: object = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'svc-chat', messages: [{ role: 'user', content: 'Hi' }], ...more }),
  });

describe('change', () => {
  test('returns the record with every changed setting, and keeps absent ones', async () => {
    const { id } = await create({ requests_per_minute: 5 });
    gateway.billing.spent.set(id, 1_234);
    const settings = {
      name: 'Renamed',
      expires_at: '2099-01-01T00:00:00.000Z',
      tokens_per_minute: 1_000,
      monthly_limit_micros: 9,
      models: ['svc-chat'],
      active: false,
    };
    const answer = await patch(id, settings);
    expect(answer.status).toBe(200);
    expect(await json(answer)).toMatchObject({
      id,
      ...settings,
      requests_per_minute: 5,
      spent_this_month_micros: 1_234,
      previous_expires_at: null,
    });
    const removed = await json(await patch(id, { requests_per_minute: null, models: null, expires_at: null }));
    expect(removed).toMatchObject({ requests_per_minute: null, models: null, expires_at: null, name: 'Renamed' });
  });

  test('pauses a cached key from its next request on, and resumes it', async () => {
    const { id, key } = await create();
    expect((await models(key)).status).toBe(200);
    expect((await patch(id, { active: false })).status).toBe(200);
    const refused = await models(key);
    expect(refused.status).toBe(401);
    expect((await json(refused)).error.code).toBe('invalid_api_key');
    await patch(id, { active: true });
    expect((await models(key)).status).toBe(200);
  });

  test('announces a newer version of the key to the other replicas', async () => {
    const { id } = await create();
    await patch(id, { name: 'Other' });
    const row = await waitFor(async () =>
      gateway.database
        .knex('outbox')
        .where({ subject: `$KV.revocations.key_version.${id}` })
        .whereNotNull('published_at')
        .first(),
    );
    expect(row.payload).toEqual({ revoked_through: '0000000001' });
  });

  test('returns a null spending while billing is down', async () => {
    const { id } = await create();
    gateway.billing.outage = 500;
    const answer = await patch(id, { active: false });
    expect(answer.status).toBe(200);
    expect(await json(answer)).toMatchObject({ active: false, spent_this_month_micros: null });
  });

  test.each([
    ['an empty name', { name: ' ' }, 'name', 'string_too_short'],
    ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', 'value_error'],
    ['no tokens', { tokens_per_minute: 0 }, 'tokens_per_minute', 'greater_than_equal'],
    ['models that are not a list', { models: 'svc-chat' }, 'models', 'list_type'],
    ['an unknown field', { key: 'x' }, 'key', 'extra_forbidden'],
  ])('returns 422 for %s', async (_name, fields, field, type) => {
    const { id } = await create();
    const answer = await patch(id, fields);
    expect(answer.status).toBe(422);
    expect((await json(answer)).detail).toContainEqual(expect.objectContaining({ loc: ['body', field], type }));
  });

  test('returns 404 for an unknown or deleted key, and for the key of another account', async () => {
    const { id } = await create();
    const stranger = await gateway.tokens.consoleSession({ userId: newId('usr') });
    expect((await patch(id, { active: false }, stranger)).status).toBe(404);
    expect((await rotate(id, {}, stranger)).status).toBe(404);
    expect((await patch(newId('key'), {})).status).toBe(404);
    await call('DELETE', `/v1/gateway/keys/${id}`);
    expect((await patch(id, {})).status).toBe(404);
    expect((await rotate(id)).status).toBe(404);
  });
});

describe('rotate', () => {
  test('accepts both secrets during the overlap, and only the new one afterwards', async () => {
    const { id, key } = await create();
    const answer = await rotate(id, { overlap_seconds: 60 });
    expect(answer.status).toBe(200);
    const rotated = await json(answer);
    expect(Object.keys(rotated).sort()).toEqual(['id', 'key', 'prefix', 'previous_expires_at']);
    expect(rotated).toMatchObject({ id, prefix: rotated.key.slice(0, 13) });
    expect((await models(key)).status).toBe(200);
    expect((await models(rotated.key)).status).toBe(200);
    now = () => Date.now() + 61_000;
    expect((await models(key)).status).toBe(401);
    expect((await models(rotated.key)).status).toBe(200);
  });

  test('overlaps a day by default, and ends an older secret immediately', async () => {
    const { id, key: first } = await create();
    const rotatedAt = Date.now();
    now = () => rotatedAt;
    const { key: second, previous_expires_at } = await json(await rotate(id));
    expect(Date.parse(previous_expires_at)).toBe(rotatedAt + 86_400_000);
    expect((await models(first)).status).toBe(200);
    const { key: third } = await json(await rotate(id));
    expect([(await models(first)).status, (await models(second)).status, (await models(third)).status]).toEqual([
      401, 200, 200,
    ]);
  });

  test('ends the old secret immediately without an overlap', async () => {
    const { id, key } = await create();
    expect((await models(key)).status).toBe(200);
    const rotated = await json(await rotate(id, { overlap_seconds: 0 }));
    expect(rotated.previous_expires_at).toBeNull();
    expect((await models(key)).status).toBe(401);
    expect((await models(rotated.key)).status).toBe(200);
  });

  test.each([-1, 604_801, 1.5])('returns 422 for an overlap of %s seconds', async (overlap_seconds) => {
    const { id } = await create();
    expect((await rotate(id, { overlap_seconds })).status).toBe(422);
  });
});

describe('allow-list of models', () => {
  test('returns 403 model_not_allowed for another model, and lists only the allowed ones', async () => {
    const { key } = await create({ models: ['svc-embedding', 'gone'] });
    const answer = await chat(key);
    expect(answer.status).toBe(403);
    expect((await json(answer)).error).toMatchObject({ code: 'model_not_allowed', param: 'model' });
    expect((await json(await models(key))).data.map(({ id }: { id: string }) => id)).toEqual(['svc-embedding']);
    expect((await call('GET', '/v1/models/svc-chat', undefined, key)).status).toBe(403);
    expect(gateway.billing.admissions.filter(({ svc_user_id }) => svc_user_id === userId)).toEqual([]);
  });

  test('still returns 404 for a model that does not exist', async () => {
    const { key } = await create({ models: [] });
    expect((await chat(key, {}, { model: 'nothing' })).status).toBe(404);
  });
});

describe('GET /v1/key', () => {
  test('returns the record of the key and its wallet', async () => {
    const { key, ...record } = await create({ tokens_per_minute: 10 });
    gateway.billing.spent.set(record.id, 77);
    const answer = await call('GET', '/v1/key', undefined, key);
    expect(answer.status).toBe(200);
    expect(await json(answer)).toEqual({
      ...record,
      last_used_at: expect.toBeOneOf([null, expect.any(String)]),
      spent_this_month_micros: 77,
      wallet: { available_micros: 1_000_000, currency: 'EUR' },
    });
  });

  test('returns 401 in the wire format without a key', async () => {
    const answer = await call('GET', '/v1/key');
    expect(answer.status).toBe(401);
    expect((await json(answer)).error.code).toBe('invalid_api_key');
  });
});

describe('Idempotency-Key', () => {
  test('reaches billing, and a duplicate gets 409 with the first request and its state', async () => {
    const { key } = await create();
    const duplicate_of = { request_id: newId('req'), state: 'settled' as const };
    gateway.billing.decide = () => ({ verdict: 'duplicate_request', duplicate_of });
    const answer = await chat(key, { 'idempotency-key': 'once' });
    expect(gateway.billing.admissions.at(-1)).toMatchObject({ kind: 'api_key', idempotency_key: 'once' });
    expect(answer.status).toBe(409);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect((await json(answer)).error).toEqual({
      message: expect.any(String),
      type: 'invalid_request_error',
      param: null,
      code: 'duplicate_request',
      ...duplicate_of,
    });
  });

  test('returns 400 for a key of more than 255 characters', async () => {
    const { key } = await create();
    expect((await chat(key, { 'idempotency-key': 'x'.repeat(256) })).status).toBe(400);
  });
});

describe('tokens per minute', () => {
  test('sends the upper bound of the tokens, and the minimum that a request without a limit accepts', async () => {
    const { key } = await create({ tokens_per_minute: 500 });
    await chat(key, {}, { max_tokens: 20 });
    const limited = gateway.billing.admissions.at(-1);
    expect(limited).toMatchObject({ limits: { tokens_per_minute: 500 }, tokens: expect.any(Number) });
    if (limited?.kind !== 'api_key') throw new Error('not the admission of an API key');
    expect(limited.tokens_least).toBe(limited.tokens);
    await chat(key);
    const unlimited = gateway.billing.admissions.at(-1);
    if (unlimited?.kind !== 'api_key') throw new Error('not the admission of an API key');
    expect(unlimited.tokens).toBeGreaterThan(4_096);
    expect(unlimited.tokens_least).toBeLessThan(100);
  });

  test('returns the remaining tokens in headers, and 429 with Retry-After for a refusal', async () => {
    const { key } = await create({ tokens_per_minute: 500 });
    const rest = { tokens_left: 40, minute_ends_in_ms: 12_500 };
    gateway.billing.decide = () => ({ verdict: 'granted', ...rest });
    const served = await chat(key);
    expect(served.headers.get('x-ratelimit-limit-tokens')).toBe('500');
    expect(served.headers.get('x-ratelimit-remaining-tokens')).toBe('40');
    expect(served.headers.get('x-ratelimit-reset-tokens')).toMatch(/^12\.[1-5]\d*s$/);
    gateway.billing.decide = () => ({ verdict: 'rate_limit_exceeded', ...rest });
    const refused = await chat(key);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('13');
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('40');
    expect((await json(refused)).error).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' });
  });
});

describe('unknown paths', () => {
  test.each(['/v1/images/generations', '/v1/audio/speech', '/v1/files', '/v1/chat/other', '/v1/gateway/nothing'])(
    'return 404 not_found in the wire format for %s, and list the endpoints',
    async (path) => {
      const { key } = await create();
      const answer = await call('POST', path, {}, key);
      expect(answer.status).toBe(404);
      expect((await json(answer)).error).toEqual({
        message: expect.stringContaining('POST /v1/chat/completions'),
        type: 'invalid_request_error',
        param: null,
        code: 'not_found',
      });
    },
  );

  test('say that the base URL lacks /v1, with and without a key', async () => {
    for (const path of ['/chat/completions', '/models']) {
      const answer = await call(path === '/models' ? 'GET' : 'POST', path, path === '/models' ? undefined : {});
      expect([answer.status, (await json(answer)).error.message]).toEqual([
        404,
        `Your base URL lacks /v1: this endpoint is /v1${path}.`,
      ]);
    }
  });

  test('have the envelope of the Messages format for its clients', async () => {
    expect(await json(await call('POST', '/v1/messages', {}))).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error', message: expect.stringContaining('POST /v1/chat/completions') },
    });
  });

  test('return our own error shape for a console session', async () => {
    expect(await json(await call('POST', '/v1/gateway/nothing', {}))).toMatchObject({ detail: { code: 'not_found' } });
  });
});
