import { newId } from '@svc/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admitDelegatedRequests } from '../src/reservations/admit-request.ts';
import { settleReservations } from '../src/reservations/settlement-queries.ts';
import { delegatedRequest, type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());

/** Waits until a backend of this database waits for a lock. */
const untilBlocked = async (): Promise<void> => {
  for (;;) {
    const { rows } = await billing.db.raw(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
  }
};

test('an admission of a request that a settlement gives up does not wait for that settlement', async () => {
  const { userId } = await billing.subscribe('full');
  const running = (await billing.admit(userId)).requestId;
  const late = newId('req');
  let settling: ReturnType<typeof settleReservations> | undefined;
  await billing.db.transaction(async (trx) => {
    // The admission holds the account, and has not reached the request that its gateway gives up.
    await trx('accounts').where({ svc_user_id: userId }).forNoKeyUpdate().first();
    settling = settleReservations(billing.db, [
      { requestId: late, outcome: 'released', costMicros: null },
      { requestId: running, outcome: 'settled', costMicros: 70 },
    ]);
    await untilBlocked();
    const [decision] = await admitDelegatedRequests(
      trx,
      [{ ...delegatedRequest(userId, { request_id: late }), service: 'chat' }],
      7,
    );
    expect(decision?.verdict).toBe('request_id_taken');
  });
  expect(await settling).toMatchObject([
    { requestId: late, state: null, effect: 'ignored' },
    { requestId: running, state: 'settled', effect: 'settled' },
  ]);
  expect(await billing.db('accounts').where({ svc_user_id: userId }).first()).toMatchObject({
    pending: 0,
    week_used_micros: 70,
  });
});

test('batches of admissions and of releases of the same requests end without a lock that times out', async () => {
  const accounts = await Promise.all(Array.from({ length: 6 }, () => billing.subscribe('full')));
  for (let round = 0; round < 10; round += 1) {
    const requests = accounts.flatMap(({ userId }) =>
      [1, 2].map(() => ({ ...delegatedRequest(userId), service: 'chat' as const })),
    );
    const releases = requests.map(({ request_id }) => ({
      requestId: request_id,
      outcome: 'released' as const,
      costMicros: null,
    }));
    await Promise.all([
      admitDelegatedRequests(billing.db, requests, 7),
      settleReservations(billing.db, releases.toReversed()),
      settleReservations(billing.db, releases),
    ]);
    const ids = releases.map(({ requestId }) => requestId);
    expect(await billing.db('reservations').whereIn('request_id', ids).whereNot({ state: 'released' })).toEqual([]);
  }
});
