import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { costOfAudio, costOfTokens } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type GatewayProcess, startProcess } from './support/gateway-process.ts';
import { PRICE, startGateway, type TestGateway } from './support/start-gateway.ts';

// Provides database, NATS, billing, provider and routes file. Its own service stays idle.
let around: TestGateway;
let token: string;
let key: string;
let volume: string;
const started: GatewayProcess[] = [];

beforeAll(async () => {
  around = await startGateway({ canFail: true });
  token = await around.tokens.accessToken();
  const created = await fetch(`${around.url}/v1/gateway/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await around.tokens.consoleSession()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Test' }),
  });
  key = JSON.parse(await created.text()).key;
});
beforeEach(async () => {
  volume = await mkdtemp(join(tmpdir(), 'volume-'));
});
afterEach(async () => {
  around.databaseDoor?.open();
  around.billing.outage = undefined;
  await Promise.all(started.splice(0).map(kill));
  await rm(volume, { recursive: true, force: true });
});
afterAll(() => around.stop());

// Several processes start in sequence.
const SLOW = { timeout: 90_000 };
const kill = async (running: GatewayProcess): Promise<void> => {
  running.signal('SIGKILL');
  await running.ended;
};
const start = async (): Promise<GatewayProcess> => {
  const running = await startProcess({
    ...around.environment,
    PROVIDER_KEY: 'the-key-of-the-provider',
    USAGE_JOURNAL_DIR: volume,
  });
  started.push(running);
  return running;
};

/** A complete answer, and the cost of its reported usage. */
interface Served {
  readonly requestId: string;
  readonly costMicros: number;
}

const send = async (running: GatewayProcess, path: string, request: RequestInit): Promise<[string, string]> => {
  const answer = await fetch(`${running.url}${path}`, { method: 'POST', ...request });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return [answer.headers.get('x-request-id') ?? '', text];
};
const sendJson = async (
  running: GatewayProcess,
  { path, credential, body }: { path: string; credential: string; body: object },
): Promise<Served> => {
  const headers = { authorization: `Bearer ${credential}`, 'content-type': 'application/json' };
  const [requestId, text] = await send(running, path, { headers, body: JSON.stringify(body) });
  const count = (name: string): number => Number(new RegExp(`"${name}":(\\d+)`).exec(text)?.[1] ?? 0);
  const tokens = { input: count('prompt_tokens'), output: count('completion_tokens') };
  return { requestId, costMicros: costOfTokens(PRICE, tokens) };
};
const messages = [{ role: 'user', content: 'Say something about Lake Como.' }];
const streamed = { stream: true, stream_options: { include_usage: true } };
const byKey = (running: GatewayProcess, body: object = {}) =>
  sendJson(running, { path: '/v1/chat/completions', credential: key, body: { model: 'svc-chat', messages, ...body } });
const byApp = (running: GatewayProcess, body: object = {}) =>
  sendJson(running, {
    path: '/v1/integrations/inference/chat/completions',
    credential: token,
    body: { messages, ...body },
  });
const transcribe = async (running: GatewayProcess): Promise<Served> => {
  const form = new FormData();
  form.append('file', new Blob([Buffer.alloc(32_000, 'a')], { type: 'audio/mpeg' }), 'name.mp3');
  form.append('response_format', 'verbose_json');
  const [requestId, text] = await send(running, '/v1/integrations/inference/audio/transcriptions', {
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  return { requestId, costMicros: costOfAudio(100, Math.ceil(JSON.parse(text).duration * 1_000)) };
};
const embed = (running: GatewayProcess) =>
  sendJson(running, {
    path: '/v1/embeddings',
    credential: key,
    body: { model: 'svc-embedding', input: 'Lake Como' },
  });

/** Returns the costs in the usage records by request. */
const recordedCosts = async (): Promise<Record<string, number>> => {
  const rows = await around.database.knex('usage_records').where({ outcome: 'settled' });
  return Object.fromEntries(rows.map((row) => [row.request_id, row.cost_micros]));
};
/** Returns the reports to billing as `[request id, cost]`, including repeated ones. */
const facts = async (): Promise<[string, number][]> => {
  const payloads: { records: { request_id: string; cost_micros: number }[] }[] = await around.database
    .knex('outbox')
    .where({ subject: 'inference.usage.recorded.v1' })
    .pluck('payload');
  return payloads.flatMap(({ records }) => records.map((fact) => [fact.request_id, fact.cost_micros] as const));
};
const expectExact = async (answers: readonly Served[]): Promise<void> => {
  await waitFor(async () => {
    const costs = await recordedCosts();
    return answers.every(({ requestId }) => costs[requestId] !== undefined);
  });
  const costs = await recordedCosts();
  const reported = await facts();
  for (const { requestId, costMicros } of answers) {
    expect(costMicros).toBeGreaterThan(0);
    expect(costs[requestId]).toBe(costMicros);
    expect(reported.filter(([id]) => id === requestId)).toEqual([[requestId, costMicros]]);
  }
};

describe('the answers of a gateway that is killed before it writes their records', SLOW, () => {
  test('are charged exactly, for apps and API keys, JSON, streams and audio, by the next process on its volume', async () => {
    const running = await start();
    await byKey(running);
    around.databaseDoor?.shut();
    const answers = [
      await byKey(running),
      await byKey(running, streamed),
      await embed(running),
      await byApp(running),
      await byApp(running, streamed),
      await transcribe(running),
    ];
    await kill(running);
    around.databaseDoor?.open();
    expect(Object.keys(await recordedCosts())).not.toContain(answers[0]?.requestId);
    await start();
    await expectExact(answers);
    await waitFor(async () => (await readdir(volume)).length <= 2);
  });

  test('are charged once if two processes start on its volume at the same time', async () => {
    const running = await start();
    await byKey(running);
    around.databaseDoor?.shut();
    const answers = await Promise.all([byKey(running), byKey(running), byApp(running)]);
    await kill(running);
    around.databaseDoor?.open();
    await Promise.all([start(), start()]);
    await expectExact(answers);
  });

  test('are charged by a live neighbor on the same volume, as are its own', async () => {
    const running = await start();
    const neighbor = await start();
    await Promise.all([byKey(running), byKey(neighbor)]);
    around.databaseDoor?.shut();
    const answers = await Promise.all([byKey(running), byKey(neighbor)]);
    await kill(running);
    around.databaseDoor?.open();
    await expectExact(answers);
  });
});

describe('an answer that ends while database and billing are down', SLOW, () => {
  test.each([false, true])('is sent, and charged after a kill (stream: %s)', async (stream) => {
    const running = await start();
    const before = around.billing.admissions.length;
    const answering = byApp(running, {
      messages: [{ role: 'user', content: 'Hello [[delay_ms=300]]' }],
      ...(stream ? streamed : {}),
    });
    await waitFor(() => around.billing.admissions.length > before);
    around.databaseDoor?.shut();
    around.billing.outage = 0;
    const answers = [await answering];
    await kill(running);
    around.databaseDoor?.open();
    await start();
    await expectExact(answers);
  });
});

test('leaves a request that it was serving uncertain, at the cost of its input and on its lease', SLOW, async () => {
  const running = await start();
  await byKey(running);
  const before = around.billing.admissions.length;
  const served = around.provider.counts().requests;
  const serving = byKey(running, { messages: [{ role: 'user', content: 'Hello [[delay_ms=60000]]' }] }).catch(
    () => undefined,
  );
  await waitFor(() => around.billing.admissions.length > before);
  const admission = around.billing.admissions.at(-1);
  if (admission?.kind !== 'api_key') throw new Error('the last admission is of a key');
  await waitFor(() => around.provider.counts().requests > served);
  await kill(running);
  await serving;
  await start();
  const row = await waitFor(() =>
    around.database.knex('usage_records').where({ request_id: admission.request_id }).first(),
  );
  expect(row).toMatchObject({ outcome: 'uncertain', cost_micros: admission.estimate_micros, status: 500 });
  const payloads = await around.database
    .knex('outbox')
    .where({ subject: 'inference.usage.recorded.v1' })
    .pluck('payload');
  const fact = payloads.flatMap(({ records }) => records).find(({ request_id }) => request_id === admission.request_id);
  expect(fact.lease).toEqual({ lease_id: admission.lease_id, hold_micros: admission.hold_micros });
});

test('serves requests while the journal cannot be written, and counts the failures', async () => {
  const running = await start();
  await rm(volume, { recursive: true });
  const answers = [await byKey(running), await byApp(running)];
  await expectExact(answers);
  const metrics = await (await fetch(`${running.internalUrl}/metrics`)).text();
  // The request of the key is journaled when it begins, too.
  expect(metrics).toMatch(/usage_journal_failures_total\{[^}]*\} 3/);
});

test('leaves no files on its volume after an orderly shutdown', async () => {
  const running = await start();
  await byKey(running);
  running.signal('SIGTERM');
  expect(await running.ended).toBe(0);
  expect(await readdir(volume)).toEqual([]);
});
