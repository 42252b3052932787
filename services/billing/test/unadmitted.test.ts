import { randomUUID } from 'node:crypto';
import { newId } from '@svc/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { outcomeOfFact, settleKeyRequests } from '../src/leases/index.ts';
import { insertUnadmitted } from '../src/reservations/settlement-queries.ts';
import { type TestBilling, testBilling } from './support/billing.ts';

const PATH = '/internal/operations/billing/unadmitted-usage';
let billing: TestBilling;

beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());

const store = async (kind: 'delegated' | 'api_key', svc_user_id: string, cost_micros: number): Promise<string> => {
  const requestId = newId('req');
  const fact = {
    request_id: requestId,
    kind,
    svc_user_id,
    service: 'chat',
    outcome: 'settled',
    cost_micros,
    // As gateways publish them: a request of a key names its lease, which a restored database does not know.
    ...(kind === 'api_key'
      ? { key_id: newId('key'), client_id: null, lease: { lease_id: randomUUID(), hold_micros: 10_000 } }
      : { key_id: null, client_id: newId('app') }),
    started_at: '2026-10-01T10:59:00.000Z',
    finished_at: '2026-10-01T11:00:00.000Z',
  };
  await report(requestId, fact);
  return requestId;
};
const report = (requestId: string, fact: object) =>
  billing.db.transaction((trx) => insertUnadmitted(trx, [{ requestId, eventId: randomUUID(), fact }]));

test('charges the cost to the wallet of the API key, once, up to what is available; the books stay proven', async () => {
  const rich = newId('usr');
  const poor = newId('usr');
  const none = newId('usr');
  for (const [userId, amountMicros] of [
    [rich, 5_000_000],
    [poor, 1_000],
  ] as const) {
    await billing.db.raw('SELECT wallet_credit(?, ?, ?, ?)', [userId, amountMicros, 'EUR', `test:${userId}`]);
  }
  const ids = [
    await store('api_key', rich, 300),
    await store('api_key', rich, 200),
    await store('api_key', poor, 4_000),
    await store('api_key', none, 50),
    await store('delegated', rich, 700),
  ];
  const listed = await billing.internal('GET', `${PATH}?limit=3`);
  expect(listed.body.data.map(({ request_id }: { request_id: string }) => request_id)).toEqual(
    ids.toSorted().slice(0, 3),
  );
  expect(listed.body.has_more).toBe(true);
  const charge = () => billing.internal('POST', `${PATH}`, { action: 'charge', since: null });
  const [first, second] = await Promise.all([charge(), charge()]);
  const done = [first, second].map(({ body }) => body);
  const expected = { charged: 4, charged_micros: 1_500, uncovered_micros: 3_050, discarded: 1, has_more: false };
  expect(done).toContainEqual(expected);
  expect(done).toContainEqual({ charged: 0, charged_micros: 0, uncovered_micros: 0, discarded: 0, has_more: false });
  const balances = await billing.db('wallets').whereIn('svc_user_id', [rich, poor]).orderBy('balance_micros');
  expect(balances.map(({ balance_micros }) => Number(balance_micros))).toEqual([0, 4_999_500]);
  const records = await billing.db('key_requests').whereIn('request_id', ids).orderBy('cost_micros');
  expect(
    records.map(({ cost_micros, written_off_micros, month_start }) => [cost_micros, written_off_micros, month_start]),
  ).toEqual([
    [50, 50, null],
    [200, 0, null],
    [300, 0, null],
    [4_000, 3_000, null],
  ]);
  const facts = await billing.db('unadmitted_usage').whereIn('request_id', ids).where({ resolution: 'charged' });
  for (const { request_id, fact } of facts) await report(request_id, fact);
  const again = await settleKeyRequests(
    billing.db,
    facts.map(({ fact }) => outcomeOfFact(fact)),
    'EUR',
  );
  expect(new Set(again.map(({ effect }) => effect))).toEqual(new Set(['none']));
  expect((await charge()).body).toMatchObject({ charged: 4, charged_micros: 0, uncovered_micros: 0 });
  expect(await billing.db('wallets').where({ svc_user_id: rich }).first()).toMatchObject({ balance_micros: 4_999_500 });
  // These wallets were credited without a checkout.
  expect((await checkBalances(billing.db)).filter(({ total }) => total !== 'wallet_paid')).toEqual([]);
});

test('discards usage received since a moment, and leaves older usage', async () => {
  const userId = newId('usr');
  const old = await store('api_key', userId, 10);
  await billing
    .db('unadmitted_usage')
    .where({ request_id: old })
    .update({ received_at: new Date(0) });
  await store('api_key', userId, 10);
  const answer = await billing.internal('POST', PATH, { action: 'discard', since: '2026-01-01T00:00:00Z' });
  expect(answer.body).toMatchObject({ charged: 0, discarded: 1 });
  expect((await billing.internal('GET', PATH)).body.data).toMatchObject([{ request_id: old, svc_user_id: userId }]);
});

test('charges nothing for a request that names no key, since nothing would tell that it was charged', async () => {
  const userId = newId('usr');
  await billing.db.raw("SELECT wallet_credit(?, 1000, 'EUR', ?)", [userId, `test:${userId}`]);
  const outcome = {
    request_id: newId('req'),
    svc_user_id: userId,
    key_id: null,
    outcome: 'settled',
    cost_micros: 300,
  } as const;
  const charge = settleKeyRequests(billing.db, [{ ...outcome, is_unadmitted: true }], 'EUR');
  await expect(charge).rejects.toThrow('names no API key');
  expect(await billing.db('ledger_postings').where({ svc_user_id: userId }).pluck('kind')).toEqual(['top_up']);
});
