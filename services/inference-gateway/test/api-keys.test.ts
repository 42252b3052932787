import { newId } from '@svc/contracts';
import { internalCredentialFor, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let session: string;
const userId = newId('usr');

beforeAll(async () => {
  gateway = await startGateway();
  session = await gateway.tokens.consoleSession({ userId });
});
afterAll(() => gateway.stop());

const call = (method: string, path: string, body?: unknown, token = session) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const json = async (answer: Response) => JSON.parse(await answer.text());
const create = async (fields: object = {}) =>
  json(await call('POST', '/v1/gateway/keys', { name: 'A key', ...fields }));
const list = async (token = session) => (await json(await call('GET', '/v1/gateway/keys', undefined, token))).data;
const expire = (id: string) =>
  gateway.database
    .knex('api_keys')
    .where({ id })
    .update({ expires_at: new Date(0) });
/** Log lines of requests that were answered 401. */
const refusals = (): { status?: number; key_id?: string; user_id?: string }[] =>
  gateway
    .logs()
    .split('\n')
    .filter((line) => line.includes('"status":401'))
    .map((line) => JSON.parse(line));
const models = (key: string) => call('GET', '/v1/models', undefined, key);

test('tells auth the name of a key, deleted or not, and nothing about those of other accounts', async () => {
  const { id } = await create({ name: 'Production' });
  const nameOf = async (owner: string) => {
    const path = `/internal/accounts/${owner}/keys/${id}/name`;
    const headers = { authorization: `Bearer ${internalCredentialFor('GET', path)}` };
    return await json(await fetch(`${gateway.internalUrl}${path}`, { headers }));
  };
  expect(await nameOf(userId)).toEqual({ name: 'Production' });
  await call('DELETE', `/v1/gateway/keys/${id}`);
  expect(await nameOf(userId)).toEqual({ name: 'Production' });
  expect(await nameOf(newId('usr'))).toEqual({ name: null });
});

test('returns reauthentication_required for each change of keys if the person authenticated too long ago', async () => {
  const auth_time = Math.floor(Date.now() / 1000) - 901;
  const stale = await gateway.tokens.consoleSession({ userId, claims: { auth_time } });
  const created = await create();
  const path = `/v1/gateway/keys/${created.id}`;
  for (const [method, target, body] of [
    ['POST', '/v1/gateway/keys', { name: 'A key' }],
    ['PATCH', path, { name: 'Another' }],
    ['POST', `${path}/rotate`, {}],
    ['DELETE', path, undefined],
  ] as const) {
    const answer = await call(method, target, body, stale);
    expect([answer.status, (await json(answer)).detail.code]).toEqual([403, 'reauthentication_required']);
  }
  expect((await list(stale))[0]).toMatchObject({ id: created.id, name: 'A key' });
});

describe('create', () => {
  test('shows the key once, and enables it immediately', async () => {
    const created = await create({ requests_per_minute: 60, monthly_limit_micros: 5_000_000 });
    expect(created).toMatchObject({ name: 'A key', requests_per_minute: 60, monthly_limit_micros: 5_000_000 });
    expect(created.key).toMatch(/^svc_sk_[0-9a-z]{47}$/);
    expect(created.key.startsWith(created.prefix)).toBe(true);
    expect((await models(created.key)).status).toBe(200);
    const [listed] = await list();
    expect(listed).toMatchObject({ id: created.id, prefix: created.prefix });
    expect(JSON.stringify(listed)).not.toContain(created.key);
  });

  test('leads by Location to the key, which its owner alone can get', async () => {
    const answer = await call('POST', '/v1/gateway/keys', { name: 'A key' });
    const location = answer.headers.get('location') ?? '';
    const { id } = await json(answer);
    const got = await call('GET', location);
    expect([got.status, await json(got)]).toEqual([200, (await list()).find((one: { id: string }) => one.id === id)]);
    const stranger = await gateway.tokens.consoleSession({ userId: newId('usr') });
    expect((await call('GET', location, undefined, stranger)).status).toBe(404);
  });

  test('leaves one fact for its owner, with the name and the prefix that lists show, and without the key', async () => {
    const { id, created_at, prefix, key } = await create({ name: 'Production' });
    const facts = await gateway.database.knex('outbox').where({ aggregate: `key:${id}` });
    const data = { svc_user_id: userId, key_id: id, name: 'Production', prefix, created_at };
    expect(facts).toMatchObject([{ subject: 'inference.key.created.v1', payload: data }]);
    expect(JSON.stringify(facts)).not.toContain(key);
  });

  test('returns 403 email_not_verified to a session whose token says that the address is not confirmed', async () => {
    const unverified = await gateway.tokens.consoleSession({ userId, claims: { email_unverified: true } });
    const answer = await call('POST', '/v1/gateway/keys', { name: 'A key' }, unverified);
    expect([answer.status, (await json(answer)).detail.code]).toEqual([403, 'email_not_verified']);
    expect((await call('GET', '/v1/gateway/keys', undefined, unverified)).status).toBe(200);
  });

  test('stores and logs no usable part of the key', async () => {
    const { key } = await create();
    const rows = JSON.stringify(await gateway.database.knex('api_keys'));
    expect(rows).not.toContain(key);
    expect(rows).not.toContain(key.slice(14));
    expect(gateway.logs()).not.toContain(key.slice(14));
  });

  test.each([
    ['no name', { name: undefined }, 'name', 'missing'],
    ['an empty name', { name: '  ' }, 'name', 'string_too_short'],
    ['a rate of zero', { requests_per_minute: 0 }, 'requests_per_minute', 'greater_than_equal'],
    ['an expiry in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at', 'value_error'],
    ['an expiry outside UTC', { expires_at: '2099-01-01T00:00:00+02:00' }, 'expires_at', 'value_error'],
    ['an unknown field', { scopes: [] }, 'scopes', 'extra_forbidden'],
  ])('returns 422 for %s', async (_name, fields, field, type) => {
    const answer = await call('POST', '/v1/gateway/keys', { name: 'A key', ...fields });
    expect(answer.status).toBe(422);
    expect((await json(answer)).detail).toContainEqual(expect.objectContaining({ loc: ['body', field], type }));
  });

  test('accepts an expiry in UTC with an offset', async () => {
    const { expires_at } = await create({ expires_at: '2099-01-01T00:00:00.5+00:00' });
    expect(expires_at).toBe('2099-01-01T00:00:00.500Z');
  });

  test('returns 401 for an access token instead of a console session', async () => {
    const token = await gateway.tokens.accessToken({ userId });
    expect((await call('POST', '/v1/gateway/keys', { name: 'x' }, token)).status).toBe(401);
  });

  test('returns 422 for the 101st key of an account', async () => {
    const token = await gateway.tokens.consoleSession({ userId: newId('usr') });
    const answers = [];
    for (let count = 0; count < 101; count += 1) {
      answers.push((await call('POST', '/v1/gateway/keys', { name: `Key ${count}` }, token)).status);
    }
    expect(answers.slice(0, 100).every((status) => status === 201)).toBe(true);
    expect(answers[100]).toBe(422);
    expect(await list(token)).toHaveLength(100);
  });
});

describe('delete', () => {
  test('disables the key immediately, and publishes its revocation', async () => {
    const { id, key } = await create();
    expect((await models(key)).status).toBe(200);
    expect((await call('DELETE', `/v1/gateway/keys/${id}`)).status).toBe(204);
    expect((await models(key)).status).toBe(401);
    expect((await list()).map((item: { id: string }) => item.id)).not.toContain(id);
    await waitFor(async () =>
      gateway.database
        .knex('outbox')
        .where({ subject: `$KV.revocations.key.${id}` })
        .whereNotNull('published_at')
        .first(),
    );
  });

  test('returns 404 for a key that is unknown, already deleted, or owned by another account', async () => {
    const { id, key } = await create();
    const stranger = await gateway.tokens.consoleSession({ userId: newId('usr') });
    expect((await call('DELETE', `/v1/gateway/keys/${id}`, undefined, stranger)).status).toBe(404);
    expect((await models(key)).status).toBe(200);
    expect((await call('DELETE', `/v1/gateway/keys/${newId('key')}`)).status).toBe(404);
    await call('DELETE', `/v1/gateway/keys/${id}`);
    expect((await call('DELETE', `/v1/gateway/keys/${id}`)).status).toBe(404);
  });
});

describe('use', () => {
  test('returns 401 in the wire format for a missing, foreign or mistyped key and for a token', async () => {
    const { key } = await create();
    for (const credential of ['sk-other', `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, session]) {
      const answer = await models(credential);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain('Bearer');
      expect((await json(answer)).error).toMatchObject({ code: 'invalid_api_key', type: 'invalid_request_error' });
    }
    expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(401);
  });

  test('returns 401 as soon as the key expires', async () => {
    const { key } = await create({ expires_at: new Date(Date.now() + 700).toISOString() });
    expect((await models(key)).status).toBe(200);
    await waitFor(async () => (await models(key)).status === 401);
  });

  test.each<[string, object, (id: string) => Promise<unknown>]>([
    ['expired', { expires_at: new Date(Date.now() + 60_000).toISOString() }, (id) => expire(id)],
    ['paused', {}, (id) => call('PATCH', `/v1/gateway/keys/${id}`, { active: false })],
    ['deleted', {}, (id) => call('DELETE', `/v1/gateway/keys/${id}`)],
  ])('logs the id of a refused key that is %s, and of its account, but never the key', async (_state, fields, end) => {
    const { id, key } = await create(fields);
    // A deleted key is known as long as it is in the cache.
    if (!('expires_at' in fields)) expect((await models(key)).status).toBe(200);
    await end(id);
    await waitFor(async () => (await models(key)).status === 401);
    const line = await waitFor(() => refusals().find(({ key_id }) => key_id === id));
    expect(line).toMatchObject({ operation: 'listModels', code: 'invalid_api_key', user_id: userId, key_id: id });
    expect(gateway.logs()).not.toContain(key.slice(14));
  });

  test('logs no ids of a refused key that is unknown', async () => {
    const before = refusals().length;
    const unknown = `svc_sk_${'0'.repeat(47)}`;
    expect((await models(unknown)).status).toBe(401);
    const line = await waitFor(() => refusals()[before]);
    expect([line.key_id, line.user_id]).toEqual([undefined, undefined]);
    expect(gateway.logs()).not.toContain(unknown);
  });

  test('records the last use', async () => {
    const { id, key } = await create();
    await models(key);
    await waitFor(async () => (await list()).find((item: { id: string }) => item.id === id)?.last_used_at !== null);
  });
});
