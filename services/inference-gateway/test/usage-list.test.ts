import { newId, idOf as timedId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { insertUsageRecords } from '../src/usage-records/insert-usage-records.ts';
import { releasedEnd, toUsageFact, type UsageRecord } from '../src/usage-records/usage-record.ts';
import { createKey, startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let key: string;
let session: string;
const userId = newId('usr');

beforeAll(async () => {
  gateway = await startGateway();
  session = await gateway.tokens.consoleSession({ userId });
  key = await createKey(gateway, { userId, settings: { requests_per_minute: 100 } });
  const embedding = post('/embeddings', { model: 'svc-embedding', input: 'text' });
  const answers = await Promise.all([embedding, chat('[[reset]]'), ...Array.from({ length: 20 }, () => chat('hello'))]);
  await Promise.all(answers.map((answer) => answer.text()));
  await Promise.all(answers.map((answer) => recordOf(idOf(answer))));
});
afterAll(() => gateway.stop());
afterEach(() => {
  gateway.billing.outage = undefined;
});

const json = async (answer: Response) => JSON.parse(await answer.text());
const post = (path: string, body: unknown) =>
  fetch(`${gateway.url}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const chat = (content: string) =>
  post('/chat/completions', { model: 'svc-chat', messages: [{ role: 'user', content }] });
const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? '';
const recordOf = (requestId: string) =>
  waitFor(() => gateway.database.knex('usage_records').where({ request_id: requestId }).first());

const usage = async (query = '', token = session) => {
  const answer = await fetch(`${gateway.url}/v1/gateway/usage${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: answer.status, body: await json(answer) };
};

test('returns pages, newest first, without gaps or repetitions', async () => {
  const seen: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await usage(`?limit=7${after}`);
    seen.push(...body.data.map(({ request_id }: { request_id: string }) => request_id));
    if (!body.has_more) break;
    after = `&after=${seen.at(-1)}`;
  }
  const rows = await gateway.database.knex('usage_records').orderBy([{ column: 'request_id', order: 'desc' }]);
  expect(seen).toEqual(rows.map(({ request_id }) => request_id));
});

test('returns the metadata of a request without its content', async () => {
  const answer = await chat('canary-77 [[echo]]');
  await answer.text();
  await recordOf(idOf(answer));
  const { body } = await usage('?limit=1');
  expect(body.data[0]).toMatchObject({
    request_id: idOf(answer),
    model: 'svc-chat',
    upstream_model: 'sandbox-chat-1-2026-06-01',
    provider: 'Sandbox sandbox',
    state: 'settled',
    status: 200,
    streamed: false,
    upstream_request_id: answer.headers.get('x-svc-compliance-upstream-request-id'),
  });
  expect(JSON.stringify(body)).not.toContain('canary');
});

test('filters by key and time, and returns null for an uncertain cost', async () => {
  expect((await usage(`?key_id=${newId('key')}`)).body.data).toEqual([]);
  expect((await usage('?to=2020-01-01T00:00:00Z')).body.data).toEqual([]);
  const { body } = await usage('?from=2020-01-01T00:00:00Z&limit=100');
  const uncertain = body.data.filter(({ state }: { state: string }) => state === 'uncertain');
  expect(uncertain.length).toBeGreaterThan(0);
  expect(uncertain.every((record: { cost_micros: unknown }) => record.cost_micros === null)).toBe(true);
});

test('returns the final state of an uncertain request once billing knows it', async () => {
  const answers = [await chat('[[reset]]'), await chat('[[reset]]'), await chat('[[reset]]')];
  const ids = answers.map(idOf);
  await Promise.all(ids.map(recordOf));
  const listed = async () => {
    const { body } = await usage('?limit=3');
    const shown = body.data.map((record: Record<string, unknown>) => [
      record['request_id'],
      [record['state'], record['cost_micros'], record['status']],
    ]);
    return ids.map((id) => Object.fromEntries(shown)[id]);
  };
  const unknown = ['uncertain', null, 504];
  expect(await listed()).toEqual([unknown, unknown, unknown]);
  gateway.billing.ended.set(ids[0] ?? '', { state: 'settled', cost_micros: 24 });
  gateway.billing.ended.set(ids[1] ?? '', { state: 'released', cost_micros: 0 });
  expect(await listed()).toEqual([['settled', 24, 504], ['released', 0, 504], unknown]);
  // If billing fails, the list is still returned.
  gateway.billing.outage = 503;
  expect(await listed()).toEqual([unknown, unknown, unknown]);
});

test('filters by model and status', async () => {
  const failed = await chat('[[status=500]]');
  expect(failed.status).toBe(503);
  await recordOf(idOf(failed));
  const statuses = (await usage('?status=503&limit=100')).body.data.map(({ status }: { status: number }) => status);
  expect(new Set(statuses)).toEqual(new Set([503]));
  const { body } = await usage('?model=svc-embedding&limit=100');
  expect(body.data.length).toBeGreaterThan(0);
  expect(body.data.every(({ model }: { model: string }) => model === 'svc-embedding')).toBe(true);
  expect((await usage('?model=nothing')).body.data).toEqual([]);
});

test('returns all pages as CSV for Accept: text/csv', async () => {
  const records = Array.from({ length: 150 }, (_, index): UsageRecord => {
    const startedAtMs = Date.UTC(2026, 0, 1, 0, 0, index);
    return {
      ...releasedEnd(200, startedAtMs + 1),
      requestId: timedId('req', startedAtMs, new Uint8Array(16)),
      kind: 'api_key',
      userId,
      clientId: null,
      keyId: newId('key'),
      service: 'chat',
      model: index === 0 ? '=cmd,"x"' : 'svc-chat',
      ingressRegion: 'r',
      isStreamed: false,
      startedAtMs,
      lease: null,
      outcome: 'settled',
      costMicros: 1,
    };
  });
  await insertUsageRecords(gateway.database.knex, records, {
    subject: 'inference.usage.recorded.v1',
    aggregate: 'usage:test',
    version: 1,
    data: { records: records.map(toUsageFact) },
  });
  const query = '?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';
  const answer = await fetch(`${gateway.url}/v1/gateway/usage${query}`, {
    headers: { authorization: `Bearer ${session}`, accept: 'text/csv' },
  });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const lines = (await answer.text()).trimEnd().split('\r\n');
  expect(lines[0]).toMatch(/^request_id,started_at,key_id,model,/);
  expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual(records.map(({ requestId }) => requestId).reverse());
  expect(lines.at(-1)).toContain(`,"'=cmd,""x""",`);
});

test.each(['key', 'model', 'day'])('sums up by %s', async (groupBy) => {
  const range = '&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';
  const { status, body } = await usage(`/summary?group_by=${groupBy}${range}`);
  expect(status).toBe(200);
  const groups: { requests: number }[] = body.data;
  expect(groups.reduce((total, { requests }) => total + requests, 0)).toBe(150);
  const name = { key: 'key_id', model: 'model', day: 'day' }[groupBy] ?? '';
  expect(Object.keys(groups[0] ?? {}).sort()).toEqual(
    [name, 'cost_micros', 'input_tokens', 'output_tokens', 'requests'].sort(),
  );
  if (groupBy === 'day') expect(groups[0]).toMatchObject({ day: '2026-01-01', cost_micros: 150 });
});

test('returns 422 for a summary without a known group', async () => {
  expect((await usage('/summary')).status).toBe(422);
  expect((await usage('/summary?group_by=provider')).status).toBe(422);
});

test('returns 422 for invalid queries, and nothing of other accounts', async () => {
  expect((await usage('?limit=101')).status).toBe(422);
  for (const from of ['yesterday', '0000-01-01T00:00:00Z', '2026-01-01T00:00:00%2B01:00']) {
    expect((await usage(`?from=${from}`)).status).toBe(422);
  }
  const stranger = await gateway.tokens.consoleSession({ userId: newId('usr') });
  expect((await usage('', stranger)).body).toEqual({ data: [], has_more: false });
});
