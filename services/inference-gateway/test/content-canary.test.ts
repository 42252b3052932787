import { connect } from 'node:net';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

const PATH = '/v1/integrations/inference/chat/completions';
const CANARY = 'canary-9f3b';
let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  gateway = await startGateway({ environment: { UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '300' } });
  token = await gateway.tokens.accessToken();
});
afterAll(() => gateway.stop());

const post = async (body: string) => {
  const answer = await fetch(`${gateway.url}${PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  });
  return await answer.text();
};
const ask = (content: string, more: object = {}) =>
  post(JSON.stringify({ messages: [{ role: 'user', content: `${CANARY} ${content}` }], ...more }));

/** Dumps every table of the service's database as text. */
const dump = async (): Promise<string> => {
  const { knex } = gateway.database;
  const { rows } = await knex.raw<{ rows: { name: string }[] }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const texts = await Promise.all(
    rows.map(
      async ({ name }) =>
        (await knex.raw('SELECT coalesce(json_agg(t)::text, ?) AS t FROM ?? t', ['', name])).rows[0].t,
    ),
  );
  return texts.join('\n');
};

test('writes no prompt, answer, tool argument or token to logs, tables, facts or metrics', async () => {
  const tools = [{ type: 'function', function: { name: CANARY, parameters: {} } }];
  const answers = [
    await ask('[[echo]]'),
    await ask('[[echo]]', { stream: true, stream_options: { include_usage: true } }),
    await ask('[[tool_call]]', { tools }),
    await ask('[[no_usage]] [[echo]]', { stream: true }),
  ];
  for (const answer of answers) expect(answer).toContain(CANARY);
  await ask('[[status=400]]');
  await ask('[[status=500]]', { stream: true });
  await ask('[[garbage]]');
  await ask('[[drop_after=1]] [[chunks=3]] [[echo]]', { stream: true });
  await ask('[[delay_ms=900]]');
  await post(`{"messages":[{"content":"${CANARY}`);
  await post(JSON.stringify({ messages: [{ [CANARY]: CANARY }], stop: 5, model: CANARY }));
  gateway.billing.outage = 500;
  await ask('');
  await waitFor(async () => (await gateway.database.knex('usage_records')).length >= 10);
  const metrics = await (await fetch(`${gateway.internalUrl}/metrics`)).text();
  expect(metrics).toContain('usage_records_written_total');
  for (const text of [gateway.logs(), await dump(), metrics]) {
    expect(text.length).toBeGreaterThan(100);
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain(token);
    expect(text).not.toContain('the-key-of-the-provider');
  }
});

test('does not admit a request that is aborted while its body is sent', async () => {
  const { port, hostname } = new URL(gateway.url);
  const before = gateway.billing.admissions.length;
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{`,
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  await waitFor(() => gateway.logs().includes('"aborted":true'));
  expect(gateway.billing.admissions).toHaveLength(before);
});
