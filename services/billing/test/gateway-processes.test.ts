import { randomUUID } from 'node:crypto';
import type { DelegatedAdmissionRequest } from '@svc/contracts';
import { createMetrics } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { createHolderMeters, createHolderSweep } from '../src/gateway-processes.ts';
import { createLeaseMeters } from '../src/leases/index.ts';
import { delegatedRequest, type TestBilling, testBilling } from './support/billing.ts';

const START_MS = Date.parse('2026-10-15T12:00:00Z');
const SWEEP_MS = 1_000;
let billing: TestBilling;
let nowMs: number;
beforeAll(async () => {
  billing = await testBilling();
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
const renew = async (holderId: string): Promise<void> => {
  const renewal = { internal_url: 'http://127.0.0.1:1' };
  const { status, body } = await billing.internal('PUT', `/internal/holders/${holderId}`, renewal);
  expect([status, body]).toEqual([200, { lease_seconds: 10 }]);
};
const newHolder = async (): Promise<string> => {
  const holderId = randomUUID();
  await renew(holderId);
  return holderId;
};
const admit = async (request: DelegatedAdmissionRequest): Promise<string> => {
  const { body } = await billing.decide(request);
  expect(body.verdict).toBe('admitted');
  return request.request_id;
};
const admitApp = (userId: string, holder_id: string) =>
  admit(delegatedRequest(userId, { holder_id }) as unknown as DelegatedAdmissionRequest);

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

  test('may leave thousands of requests, which become uncertain oldest first', async () => {
    const holder = randomUUID();
    const { userId } = await billing.subscribe('full');
    await billing.db.raw(
      `INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, estimate_micros, week_start, month_start,
         created_at, holder_id)
       SELECT 'many' || n, 'delegated', 'usr_' || n, 'app', 'chat', 10, now(), now(),
         :at::timestamptz + n * interval '1 millisecond', :holder FROM generate_series(1, 3000) n`,
      { holder, at: new Date(nowMs).toISOString() },
    );
    await billing.db.raw(
      `INSERT INTO accounts SELECT 'usr_' || n, a.status, a.plan_id, a.past_due_since, a.anchor, a.interval, a.period_start,
         a.period_end, a.week_start, a.week_end, 0, a.month_start, a.month_end, 0, 1, false
       FROM accounts AS a, generate_series(1, 3000) n WHERE a.svc_user_id = ?`,
      [userId],
    );
    await watch(15);
    const rows = billing.db('reservations').where({ holder_id: holder, state: 'uncertain' });
    const order = await rows.orderBy('created_at').pluck('uncertain_at');
    expect(order).toHaveLength(3_000);
    expect(order).toEqual([...order].sort());
  });
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
      leaseMeters: createLeaseMeters(metrics),
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

test('returns 422 for a malformed holder id, and for an address that is none', async () => {
  const renewal = { internal_url: 'http://127.0.0.1:1' };
  expect((await billing.internal('PUT', '/internal/holders/me', renewal)).status).toBe(422);
  expect((await billing.internal('PUT', `/internal/holders/${randomUUID()}`, { internal_url: 'here' })).status).toBe(
    422,
  );
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
