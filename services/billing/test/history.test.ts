import { idOf, newId } from '@svc/contracts';
import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { keepRequestPartitions } from '../src/reservations/keep-request-partitions.ts';
import { APP, type TestBilling, testBilling } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';

const AT = Date.UTC(2026, 9, 15);
const MONTH = '2026_10';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
  await keepRequestPartitions(billing.db, { nowMs: AT, daysKept: 400 });
  await billing.setClock(new Date(AT));
});
afterAll(() => billing.stop());

/** Counts scans of partitions by this transaction, and by earlier ones of its connection that are not summed up yet. */
const countScans = async (trx: Knex.Transaction): Promise<Map<string, number>> => {
  const { rows } = await trx.raw<{ rows: { name: string; scans: string }[] }>(
    `SELECT relname AS name, coalesce(seq_scan, 0) + coalesce(idx_scan, 0) AS scans FROM pg_stat_xact_user_tables
     WHERE relname ~ '_\\d{4}_\\d\\d$'`,
  );
  return new Map(rows.map(({ name, scans }) => [name, Number(scans)]));
};

test('an admission and a settlement read no earlier month than that of their request', async () => {
  const { userId } = await billing.subscribe();
  const requestId = idOf('req', AT, crypto.getRandomValues(new Uint8Array(16)));
  const outcome = {
    request_id: idOf('req', AT, crypto.getRandomValues(new Uint8Array(16))),
    svc_user_id: userId,
    key_id: newId('key'),
    outcome: 'settled',
    cost_micros: 1,
    is_unadmitted: true,
    started_at: new Date(AT).toISOString(),
  };
  const accounts = gatewayAccounts(billing);
  const owner = await accounts.fund();
  const asked = await accounts.ask(owner, { hold_micros: 10 });
  const covered = {
    ...accounts.outcomeOf(asked.requestId, { outcome: 'settled', cost_micros: 10 }),
    request_id: idOf('req', AT, crypto.getRandomValues(new Uint8Array(16))),
  };
  const scanned = await billing.db.transaction(async (trx) => {
    const before = await countScans(trx);
    const { rows: admitted } = await trx.raw(
      `SELECT verdict FROM admit_delegated_requests(ARRAY[:requestId], ARRAY[:userId], ARRAY[:app], ARRAY['chat'], ARRAY[100],
         ARRAY['order-1'], NULL, NULL, NULL, interval '7 days')`,
      { requestId, userId, app: APP },
    );
    const { rows: settled } = await trx.raw(
      `SELECT state FROM settle_requests(ARRAY[?], ARRAY['settled'], ARRAY[7], '{}')`,
      [requestId],
    );
    const { rows: ofKeys } = await trx.raw(`SELECT state FROM settle_key_requests(?::jsonb, 'EUR')`, [
      JSON.stringify([outcome, covered]),
    ]);
    const states = [...settled, ...ofKeys].map(({ state }) => state);
    expect([admitted[0].verdict, ...states]).toEqual(['admitted', 'settled', 'settled', 'settled']);
    const after = await countScans(trx);
    return [...after].filter(([name, scans]) => scans > (before.get(name) ?? 0)).map(([name]) => name);
  });
  expect(scanned).not.toEqual([]);
  expect(scanned.filter((name) => name.slice(-MONTH.length) < MONTH)).toEqual([]);
});

test('an id without random bits is the first of its time', async () => {
  for (const at of [AT, AT + 1, AT + 123_456_789]) {
    const { rows } = await billing.db.raw('SELECT request_id_at(?) AS id', [new Date(at)]);
    expect(rows).toEqual([{ id: idOf('req', at, new Uint8Array(16)) }]);
  }
});

test('the books stay proven once the months of their requests are dropped', async () => {
  const accounts = gatewayAccounts(billing);
  const owner = await accounts.fund();
  const { requestId } = await accounts.ask(owner);
  await accounts.settle(requestId, { outcome: 'settled', cost_micros: 1_000 });
  await billing.subscribe('basic', owner.userId);
  const json = { enabled: true, monthly_max_micros: 1_000_000 };
  await billing.call('PUT', '/v1/subscriptions/extra-usage', { token: owner.token, json });
  for (const cost_micros of [1_000, 500]) {
    const { requestId: ofApp, answer } = await billing.admit(owner.userId, { estimate_micros: cost_micros });
    expect(answer.body.verdict).toBe('admitted');
    await billing.settle(ofApp, { outcome: 'settled', cost_micros });
  }
  const [paid] = await billing.db('wallet_usage_days').where({ svc_user_id: owner.userId });
  expect([paid.paid_micros, paid.extra_micros]).toEqual([1_500, 500]);
  expect(await checkBalances(billing.db)).toEqual([]);
  const later = AT + 500 * 86_400_000;
  await billing.setClock(new Date(later));
  await keepRequestPartitions(billing.db, { nowMs: later, daysKept: 400 });
  expect(await billing.db('key_requests')).toEqual([]);
  expect(await checkBalances(billing.db)).toEqual([]);
});
