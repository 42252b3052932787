import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createKey, PRICE, startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let key: string;
let token: string;
beforeAll(async () => {
  gateway = await startGateway();
  token = await gateway.tokens.accessToken();
  key = await createKey(gateway);
});
afterAll(() => gateway.stop());
afterEach(() => {
  gateway.billing.outage = undefined;
});

const CONTENT = 'Say something about Lake Como.';
const post = (path: string, credential: string, body: object): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const chat = (directives: string, more: object = {}) =>
  post('/v1/chat/completions', key, {
    model: 'svc-chat',
    messages: [{ role: 'user', content: `${CONTENT} ${directives}` }],
    ...more,
  });
const idOf = (answer: Response): string => answer.headers.get('x-request-id') ?? '';
const lastAdmission = () => gateway.billing.admissions.at(-1);

test('renews its lease from the start with its own address, and sends its id in admissions of both kinds', async () => {
  await waitFor(() => gateway.billing.renewals.length > 0);
  const holderId = gateway.billing.renewals[0]?.holderId;
  expect(gateway.billing.renewals[0]?.internalUrl).toBe(gateway.internalUrl);
  await (await chat('')).text();
  const ofKey = lastAdmission();
  await (
    await post('/v1/integrations/inference/chat/completions', token, { messages: [{ role: 'user', content: 'Hi' }] })
  ).text();
  expect([ofKey?.holder_id, lastAdmission()?.holder_id]).toEqual([holderId, holderId]);
});

test('estimates an API-key request at the cost of its input, far below its hold', async () => {
  await (await chat('')).text();
  const admission = lastAdmission();
  if (admission?.kind !== 'api_key') throw new Error('the last admission is of a key');
  const { estimate_micros: estimate = 0, hold_micros: hold } = admission;
  expect(estimate).toBeGreaterThan(0);
  expect(estimate).toBeLessThanOrEqual(
    (JSON.stringify({ content: CONTENT }).length * PRICE.input_micros_per_million) / 1e6,
  );
  expect(hold).toBeGreaterThan(100 * estimate);
});

test('continues with the same id after an outage of billing', async () => {
  const holderId = gateway.billing.renewals[0]?.holderId;
  gateway.billing.outage = 0;
  const before = gateway.billing.renewals.length;
  await waitFor(() => gateway.logs().includes('"component":"holder"'));
  gateway.billing.outage = undefined;
  await waitFor(() => gateway.billing.renewals.length > before);
  expect(gateway.billing.renewals.at(-1)?.holderId).toBe(holderId);
});

test('records an unknown outcome at the cost of the input, not at the hold', async () => {
  const answer = await chat('[[drop_after=0]]');
  expect(answer.status).toBe(504);
  await answer.text();
  const admission = gateway.billing.admissions.find(({ request_id }) => request_id === idOf(answer));
  const record = await waitFor(() =>
    gateway.database
      .knex('usage_records')
      .where({ request_id: idOf(answer) })
      .first(),
  );
  expect(record).toMatchObject({ outcome: 'uncertain' });
  expect(admission?.kind === 'api_key' && admission.estimate_micros).toBe(record.cost_micros);
});

test('ends its lease if it is idle when it stops', async () => {
  await gateway.stopService();
  expect(gateway.billing.endedHolders).toEqual([gateway.billing.renewals[0]?.holderId]);
});
