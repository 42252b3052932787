import { randomUUID } from 'node:crypto';
import { type AdmissionRequest, newId } from '@svc/contracts';
import { createMetrics } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances/index.ts';
import { createHolderMeters, createHolderSweep } from '../src/holders/index.ts';
import { delegatedRequest, type TestBilling, testBilling } from './support/billing.ts';
import { type GatewayAccount, gatewayAccounts } from './support/gateway-accounts.ts';

const START_MS = Date.parse('2026-10-15T12:00:00Z');
const SWEEP_MS = 1_000;
let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
let nowMs: number;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
});
afterAll(() => billing.stop());
beforeEach(async () => {
  nowMs = START_MS;
  await billing.db('holders').delete();
  await billing.db.raw("UPDATE reservations SET holder_id = NULL WHERE state = 'reserved'");
  await pass(0);
  await watch(11);
});
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

/** Advances the clocks of the database and the process. */
const pass = async (seconds: number): Promise<void> => {
  nowMs += seconds * 1_000;
  billing.monotonic.ms += seconds * 1_000;
  await billing.setClock(new Date(nowMs));
};
/** Advances the clocks while billing sweeps and the given holders renew. */
const watch = async (seconds: number, ...alive: readonly string[]): Promise<void> => {
  for (let second = 0; second < seconds; second += SWEEP_MS / 1_000) {
    await pass(SWEEP_MS / 1_000);
    for (const holder of alive) await renew(holder);
    await billing.app.sweepHolders();
  }
};
const renew = async (holderId: string, estimates: Record<string, number> = {}): Promise<void> => {
  const in_flight = Object.entries(estimates).map(([request_id, estimate_micros]) => ({ request_id, estimate_micros }));
  const { status, body } = await billing.internal('PUT', `/internal/holders/${holderId}`, { in_flight });
  expect([status, body]).toEqual([200, { lease_seconds: 10 }]);
};
const newHolder = async (): Promise<string> => {
  const holderId = randomUUID();
  await renew(holderId);
  return holderId;
};
const admit = async (request: AdmissionRequest): Promise<string> => {
  const { body } = await billing.internal('POST', '/internal/admissions', request);
  expect(body.verdict).toBe('admitted');
  return request.request_id;
};
const admitApp = (userId: string, holder_id: string) =>
  admit(delegatedRequest(userId, { holder_id }) as unknown as AdmissionRequest);

const admitKey = (owner: GatewayAccount, holder_id: string, more: { estimate_micros?: number } = {}) =>
  admit({
    kind: 'api_key',
    request_id: newId('req'),
    svc_user_id: owner.userId,
    key_id: owner.keyId,
    hold_micros: 1_000_000,
    requests_per_minute: null,
    monthly_limit_micros: null,
    holder_id,
    ...more,
  });
const fund = () => accounts.fund();
const held = async ({ token }: GatewayAccount): Promise<number> => (await accounts.wallet(token)).held_micros;
const balance = async ({ token }: GatewayAccount): Promise<number> => (await accounts.wallet(token)).balance_micros;
const stateOf = async (requestId: string): Promise<string> =>
  (await billing.db('reservations').where({ request_id: requestId }).first('state')).state;
const pendingOf = async (userId: string): Promise<number> =>
  (await billing.db('accounts').where({ svc_user_id: userId }).first('pending')).pending;

describe('a holder that stops renewing', () => {
  test('loses its places at most 15 s after its death, while live holders keep theirs', async () => {
    const dead = await newHolder();
    const live = await newHolder();
    const one = await billing.subscribe('full');
    const other = await billing.subscribe('full');
    const requests = [await admitApp(one.userId, dead), await admitApp(one.userId, dead)];
    const kept = await admitApp(other.userId, live);
    await watch(9, live);
    expect(await pendingOf(one.userId)).toBe(2);
    await watch(3, live);
    expect(await pendingOf(one.userId)).toBe(0);
    expect(await Promise.all(requests.map(stateOf))).toEqual(['uncertain', 'uncertain']);
    expect([await stateOf(kept), await pendingOf(other.userId)]).toEqual(['reserved', 1]);
    await watch(300, live);
    expect(await stateOf(kept)).toBe('reserved');
  });

  test('leaves a hold at the reported estimate, or else at the estimate of the admission, or else in full', async () => {
    const owner = await fund();
    const holder = await newHolder();
    const reported = await admitKey(owner, holder, { estimate_micros: 200 });
    await admitKey(owner, holder, { estimate_micros: 30 });
    await renew(holder, { [reported]: 5_000 });
    expect(await held(owner)).toBe(2_000_000);
    await watch(12);
    expect(await held(owner)).toBe(5_030);
    await admitKey(owner, await newHolder());
    await watch(12);
    expect(await held(owner)).toBe(1_005_030);
  });

  test('keeps a hold that is lower than the reported cost', async () => {
    const owner = await fund();
    const holder = await newHolder();
    await renew(holder, { [await admitKey(owner, holder)]: 3_000_000 });
    await watch(12);
    expect(await held(owner)).toBe(1_000_000);
  });

  test('has its requests settled once: at their true cost if it arrives, otherwise at the estimate', async () => {
    const owner = await fund();
    const holder = await newHolder();
    const known = await admitKey(owner, holder, { estimate_micros: 200 });
    const lost = await admitKey(owner, holder, { estimate_micros: 30 });
    await watch(12);
    for (let time = 0; time < 2; time += 1) {
      expect(await billing.settle(known, { outcome: 'settled', cost_micros: 640 })).toBe('settled');
    }
    expect([await balance(owner), await held(owner)]).toEqual([10_000_000 - 640, 30]);
    await pass(25 * 3_600);
    await billing.app.sweep();
    expect([await balance(owner), await held(owner)]).toEqual([10_000_000 - 640 - 30, 0]);
    expect(await stateOf(lost)).toBe('settled');
  });

  test('may leave thousands of requests, which become uncertain oldest first', async () => {
    const owner = await fund();
    const holder = randomUUID();
    await billing.db.raw(
      `INSERT INTO reservations (request_id, kind, svc_user_id, key_id, estimate_micros, reported_micros, month_start, created_at, holder_id)
       SELECT 'many' || n, 'api_key', :userId, :keyId, 1000, 10, now(), :at::timestamptz + n * interval '1 millisecond', :holder
       FROM generate_series(1, 3000) n`,
      { ...owner, holder, at: new Date(nowMs).toISOString() },
    );
    await billing.db('wallets').where({ svc_user_id: owner.userId }).update({ held_micros: 3_000_000 });
    await watch(15);
    expect(await held(owner)).toBe(30_000);
    const order = await billing
      .db('reservations')
      .where({ holder_id: holder })
      .orderBy('created_at')
      .pluck('uncertain_at');
    expect(order).toEqual([...order].sort());
  });
});

test('keeps every balance proven under concurrent sweeps, renewals, settlements and admissions', async () => {
  const owners = await Promise.all([fund(), fund(), fund()]);
  const dead = await newHolder();
  const live = await newHolder();
  const subscriber = await billing.subscribe('full');
  const requests: string[] = [];
  for (const owner of owners) {
    for (let count = 0; count < 4; count += 1) {
      requests.push(await admitKey(owner, dead, { estimate_micros: 100 + count }), await admitKey(owner, live));
    }
  }
  requests.push(await admitApp(subscriber.userId, dead));
  await watch(9, live);
  await pass(3);
  await renew(live);
  const settled = requests.map((request, place) => async () => {
    await billing.settle(request, { outcome: 'settled', cost_micros: 10 + place });
  });
  const reports = requests.map((request) => () => renew(live, { [request]: 77 }));
  const admissions = owners.map((owner) => () => admitKey(owner, live));
  const sweeps = Array.from({ length: 6 }, () => billing.app.sweepHolders);
  await Promise.all([...sweeps, ...settled, ...reports, ...admissions, ...sweeps].map((act) => act()));
  expect(new Set(await Promise.all(requests.map(stateOf)))).toEqual(new Set(['settled']));
  const spent = requests.map((_, place) => 10 + place).reduce((sum, cost) => sum + cost, 0);
  const balances = await Promise.all(owners.map(balance));
  const delegatedCost = 10 + requests.length - 1;
  expect(balances.reduce((sum, micros) => sum + micros, 0)).toBe(30_000_000 - spent + delegatedCost);
  expect(await Promise.all(owners.map(held))).toEqual(owners.map(() => 1_000_000));
});

describe('a holder that was wrongly declared dead', () => {
  test('continues after it renews its lease: uncertain requests settle at their true cost, and later ones stay reserved', async () => {
    const { userId } = await billing.subscribe('full');
    const holder = await newHolder();
    const before = await admitApp(userId, holder);
    await watch(12);
    expect(await stateOf(before)).toBe('uncertain');
    const after = await admitApp(userId, holder);
    await watch(9);
    expect(await stateOf(after)).toBe('reserved');
    await renew(holder);
    await watch(60, holder);
    expect(await stateOf(after)).toBe('reserved');
    expect(await billing.settle(before, { outcome: 'settled', cost_micros: 7 })).toBe('settled');
    expect(await pendingOf(userId)).toBe(1);
  });

  test('loses a request admitted under an expired lease that it never renews', async () => {
    const { userId } = await billing.subscribe('full');
    const request = await admitApp(userId, randomUUID());
    await watch(9);
    expect(await stateOf(request)).toBe('reserved');
    await watch(3);
    expect(await stateOf(request)).toBe('uncertain');
  });
});

describe('a sweep that missed renewals', () => {
  test.each([
    ['a minute', 60],
    ['six seconds', 6],
  ])('gives every holder a full lease after a pause of %s', async (_pause, secondsAway) => {
    const { userId } = await billing.subscribe('full');
    const holder = await newHolder();
    const request = await admitApp(userId, holder);
    await pass(secondsAway);
    await billing.app.sweepHolders();
    await watch(8);
    expect(await stateOf(request)).toBe('reserved');
    await renew(holder);
    await watch(8, holder);
    expect(await stateOf(request)).toBe('reserved');
    await watch(12);
    expect(await stateOf(request)).toBe('uncertain');
  });

  test('gives every holder a full lease after a start', async () => {
    const { userId } = await billing.subscribe('full');
    const holder = await newHolder();
    const request = await admitApp(userId, holder);
    await pass(60);
    const metrics = createMetrics('billing', { isOfProcess: false });
    const sweep = createHolderSweep({
      ...billing.app.settlement,
      holderMeters: createHolderMeters(metrics),
      monotonicMs: () => billing.monotonic.ms,
    });
    for (let second = 0; second < 10; second += 1) {
      await sweep();
      expect(await stateOf(request)).toBe('reserved');
      await pass(1);
    }
    await sweep();
    expect(await stateOf(request)).toBe('uncertain');
  });

  test('gives every holder a full lease after an outage of the database', async () => {
    const { userId } = await billing.subscribe('full');
    const holder = await newHolder();
    const request = await admitApp(userId, holder);
    await billing.db.raw('ALTER TABLE holders RENAME TO holders_away');
    for (let second = 0; second < 30; second += 1) {
      await pass(1);
      await expect(billing.app.sweepHolders()).rejects.toThrow();
    }
    await billing.db.raw('ALTER TABLE holders_away RENAME TO holders');
    await watch(8);
    expect(await stateOf(request)).toBe('reserved');
    await watch(4);
    expect(await stateOf(request)).toBe('uncertain');
  });

  test('does nothing while another replica sweeps', async () => {
    const { userId } = await billing.subscribe('full');
    const holder = await newHolder();
    const request = await admitApp(userId, holder);
    await watch(9);
    const other = await billing.db.transaction();
    await other.raw('SELECT pg_advisory_xact_lock(4120971)');
    await watch(4);
    expect(await stateOf(request)).toBe('reserved');
    await other.rollback();
    await watch(1);
    expect(await stateOf(request)).toBe('uncertain');
  });
});

describe('reports of estimates', () => {
  test('apply only to reserved API-key requests of the same holder', async () => {
    const owner = await fund();
    const holder = await newHolder();
    const stranger = await newHolder();
    const request = await admitKey(owner, holder, { estimate_micros: 200 });
    const ended = await admitKey(owner, holder);
    await billing.settle(ended, { outcome: 'settled', cost_micros: 10 });
    await renew(stranger, { [request]: 9 });
    await renew(holder, { [ended]: 20, [newId('req')]: 30 });
    await watch(12);
    expect(await held(owner)).toBe(200);
    expect(await balance(owner)).toBe(10_000_000 - 10);
  });

  test('skip a request that is being settled, without waiting for it', async () => {
    const owner = await fund();
    const holder = await newHolder();
    const busy = await admitKey(owner, holder);
    const free = await admitKey(owner, holder);
    const settling = await billing.db.transaction();
    await settling('reservations').where({ request_id: busy }).forUpdate();
    await renew(holder, { [busy]: 5, [free]: 7 });
    await settling.rollback();
    const rows = await billing.db('reservations').whereIn('request_id', [busy, free]).orderBy('created_at');
    expect(new Set(rows.map((row) => row.reported_micros))).toEqual(new Set([null, 7]));
  });

  test('return 422 for more than a thousand estimates in one renewal, and for a malformed holder id', async () => {
    const in_flight = Array.from({ length: 1_001 }, () => ({ request_id: newId('req'), estimate_micros: 1 }));
    expect((await billing.internal('PUT', `/internal/holders/${randomUUID()}`, { in_flight })).status).toBe(422);
    expect((await billing.internal('PUT', '/internal/holders/me', { in_flight: [] })).status).toBe(422);
  });
});

test('does not count a holder that ends its lease as expired', async () => {
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${billing.internalUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{[^}]*\\} (\\d+)`, 'm').exec(text)?.[1]);
  };
  const before = await metric('billing_holders_expired_total');
  const ended = await newHolder();
  const dead = await newHolder();
  await watch(1);
  expect(await metric('billing_holders_alive')).toBe(2);
  expect((await billing.internal('DELETE', `/internal/holders/${ended}`)).status).toBe(204);
  await watch(1, dead);
  expect(await metric('billing_holders_alive')).toBe(1);
  await watch(12);
  expect(await metric('billing_holders_alive')).toBe(0);
  expect((await metric('billing_holders_expired_total')) - before).toBe(1);
});

test('marks a reservation without a holder uncertain by its age alone', async () => {
  const { userId } = await billing.subscribe('full');
  const { requestId } = await billing.admit(userId);
  await watch(30);
  expect(await stateOf(requestId)).toBe('reserved');
  await pass(120);
  await billing.app.sweep();
  await waitFor(async () => (await stateOf(requestId)) === 'uncertain');
});
