import { events, newId } from '@svc/contracts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances/index.ts';
import { admitKeyRequests } from '../src/reservations/admission-queries.ts';
import { settleReservations } from '../src/reservations/settlement-queries.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import { gatewayAccounts, keyRequest } from './support/gateway-accounts.ts';

let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock('2026-10-15T12:00:00Z'));
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const signIn = () => accounts.signIn();
const startTopUp = (token: string, amountMicros: number) => accounts.startTopUp(token, amountMicros);
const confirm = (token: string, sessionId: string) => accounts.confirm(token, sessionId);
const wallet = (token: string) => accounts.wallet(token);
const fund = () => accounts.fund();
const ask = (...args: Parameters<typeof accounts.ask>) => accounts.ask(...args);
const postedOf = (requestId: string) => accounts.postedOf(requestId);
/** Counts statements that contain the given text and wait for a lock. */
const countWaiting = async (named: string): Promise<number> => {
  const [row] = await billing
    .db('pg_stat_activity')
    .where({ wait_event_type: 'Lock' })
    .whereLike('query', `%${named}%`)
    .whereRaw('datname = current_database()')
    .count();
  return Number(row?.['count']);
};
/** Returns the ledger entries of a cost. API-key requests cause no others. */
const cost = (kind: string, micros: number) => [
  [kind, 'income', micros],
  [kind, 'wallet_available', -micros],
];

describe('top-ups', () => {
  test('run through the checkout, and are credited and published once', async () => {
    const { userId, token } = await signIn();
    expect(await wallet(token)).toEqual({ balance_micros: 0, held_micros: 0, currency: 'EUR' });
    const { status, body } = await startTopUp(token, 25_000_000);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['session_id', 'url']);
    expect((await confirm(token, body.session_id)).body.detail.code).toBe('checkout_not_completed');
    const path = `/sandbox/payments/sessions/${body.session_id}`;
    expect((await billing.call('GET', path)).text).toMatch(/25,00\s€/);
    await Promise.all(Array.from({ length: 4 }, () => billing.call('POST', `${path}/complete`)));
    const answers = await Promise.all(Array.from({ length: 4 }, () => confirm(token, body.session_id)));
    for (const answer of answers) {
      expect(answer.body).toEqual({
        subscription: null,
        wallet: { balance_micros: 25_000_000, held_micros: 0, currency: 'EUR' },
      });
    }
    const facts = await billing.db('outbox').where({ aggregate: `wallet:${userId}` });
    expect(facts.map(({ subject, version, payload }) => [subject, version, payload])).toEqual([
      [events.walletCredited.subject, 1, { svc_user_id: userId, amount_micros: 25_000_000, currency: 'EUR' }],
    ]);
  });
  test('add up, and do not affect the subscription', async () => {
    const owner = await fund();
    const { body } = await startTopUp(owner.token, 1_000_000);
    await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
    expect((await wallet(owner.token)).balance_micros).toBe(11_000_000);
    expect((await billing.call('GET', '/v1/subscriptions', { token: owner.token })).body.subscription).toBeNull();
    expect(
      (
        await billing.call('POST', '/v1/subscriptions/portal', {
          token: owner.token,
          json: { return_url: 'https://a.example/' },
        })
      ).status,
    ).toBe(200);
  });
  test.each([
    [0, 'greater_than_equal'],
    [-1_000_000, 'greater_than_equal'],
    [10_000_010_000, 'less_than_equal'],
    [1_000_000.5, 'int_type'],
  ])('return 422 for %d micros', async (amount, type) => {
    const { token } = await signIn();
    const answer = await startTopUp(token, amount);
    expect([answer.status, answer.body.detail[0].type]).toEqual([422, type]);
  });
  test.each([1, 33, 1_005_001])('accept %d micros in the sandbox', async (amount) => {
    const { token } = await signIn();
    const { body } = await startTopUp(token, amount);
    await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
    expect((await confirm(token, body.session_id)).body.wallet.balance_micros).toBe(amount);
  });
  test('return 404 to another account, and 401 without a session', async () => {
    const owner = await signIn();
    const stranger = await signIn();
    const { body } = await startTopUp(owner.token, 1_000_000);
    expect((await confirm(stranger.token, body.session_id)).status).toBe(404);
    expect((await billing.call('GET', '/v1/gateway/wallet')).status).toBe(401);
    expect((await billing.call('POST', '/v1/gateway/wallet/top-ups', { json: {} })).status).toBe(401);
  });
});

describe('refunds', () => {
  const start = async () => {
    const owner = await signIn();
    const { body } = await startTopUp(owner.token, 10_000_000);
    await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
    const refund = (refund_id: string, amount_micros: number, userId = owner.userId, session_id = body.session_id) =>
      billing.internal('POST', `/internal/accounts/${userId}/wallet/refunds`, { refund_id, session_id, amount_micros });
    return { ...owner, sessionId: body.session_id, refund };
  };
  test('refund a part of a top-up once per id, as a balanced posting', async () => {
    const { token, userId, refund } = await start();
    const id = newId('req');
    const answers = await Promise.all(Array.from({ length: 5 }, () => refund(id, 3_000_000)));
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        200,
        { refund_id: id, state: 'refunded', amount_micros: 3_000_000, currency: 'EUR' },
      ]);
    }
    expect(await wallet(token)).toMatchObject({ balance_micros: 7_000_000 });
    const postings = await billing.db('ledger_postings').where({ svc_user_id: userId, kind: 'refund' });
    expect(postings.map(({ reference }) => reference)).toEqual([`refund:${id}`]);
    expect((await refund(id, 1_000_000)).body.detail[0]).toMatchObject({ loc: ['body', 'refund_id'] });
  });
  test('never exceed the top-up or the available balance, even concurrently', async () => {
    const owner = await start();
    await ask(owner, { hold_micros: 6_000_000 });
    const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => owner.refund(`r${index}`, 1_000_000)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    for (const { body } of answers.filter(({ status }) => status !== 200)) {
      expect(body.detail.code).toBe('refund_not_possible');
    }
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 6_000_000, held_micros: 6_000_000 });
    const second = await startTopUp(owner.token, 9_000_000);
    await billing.call('POST', `/sandbox/payments/sessions/${second.body.session_id}/complete`);
    expect((await owner.refund('more', 6_010_000)).body.detail.code).toBe('refund_not_possible');
    expect((await owner.refund('rest', 6_000_000)).body.state).toBe('refunded');
  });
  test('of different top-ups cannot share an id, even concurrently', async () => {
    const owners = [await start(), await start(), await start()];
    const ids = Array.from({ length: 8 }, () => newId('req'));
    const answers = await Promise.all(ids.map((id) => Promise.all(owners.map(({ refund }) => refund(id, 1_000_000)))));
    for (const group of answers) expect(group.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    const balances = await Promise.all(owners.map(async ({ token }) => (await wallet(token)).balance_micros));
    expect(balances.reduce((sum, balance) => sum + balance)).toBe(22_000_000);
  });
  test('return 404 unless the session is a paid top-up of the account, and 422 for fractions of a cent', async () => {
    const one = await start();
    const two = await start();
    expect((await one.refund('a', 1_000_000, two.userId)).status).toBe(404);
    expect((await one.refund('a', 1_000_000, one.userId, newId('cs'))).status).toBe(404);
    const unpaid = (await startTopUp(one.token, 5_000_000)).body.session_id;
    expect((await one.refund('a', 1_000_000, one.userId, unpaid)).status).toBe(404);
    expect((await one.refund('a', 5_000)).status).toBe(422);
    expect((await one.refund('a', 0)).status).toBe(422);
    expect((await one.refund('with space', 1_000_000)).status).toBe(422);
  });
});

describe('an API-key request', () => {
  test('holds its maximum cost without a posting, and posts its cost once', async () => {
    const owner = await fund();
    const { requestId, body } = await ask(owner);
    expect(body).toEqual({ verdict: 'admitted' });
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 10_000_000, held_micros: 1_000_000 });
    expect(await postedOf(requestId)).toEqual([]);
    expect(await billing.settle(requestId, { outcome: 'settled', cost_micros: 400_000 })).toBe('settled');
    expect(await billing.settle(requestId, { outcome: 'settled', cost_micros: 400_000 })).toBe('settled');
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 9_600_000, held_micros: 0 });
    expect(await postedOf(requestId)).toEqual(cost('settlement', 400_000));
  });
  test('returns its hold without a posting when released, and keeps it while uncertain', async () => {
    const owner = await fund();
    const one = await ask(owner);
    const two = await ask(owner);
    await billing.settle(one.requestId, { outcome: 'released' });
    await billing.settle(two.requestId, { outcome: 'uncertain' });
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 10_000_000, held_micros: 1_000_000 });
    for (const { requestId } of [one, two]) expect(await postedOf(requestId)).toEqual([]);
    await billing.setClock('2026-10-16T12:30:00Z');
    await billing.app.sweep();
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 9_000_000, held_micros: 0 });
    await billing.settle(two.requestId, { outcome: 'settled', cost_micros: 250_000 });
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 9_750_000, held_micros: 0 });
    expect(await postedOf(two.requestId)).toEqual([...cost('settlement', 1_000_000), ...cost('adjustment', -750_000)]);
  });
  test('takes a cost above the hold from the available balance', async () => {
    const owner = await fund();
    const { requestId } = await ask(owner, { hold_micros: 9_000_000 });
    await billing.settle(requestId, { outcome: 'settled', cost_micros: 9_500_000 });
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 500_000, held_micros: 0 });
    expect(await postedOf(requestId)).toEqual(cost('settlement', 9_500_000));
    expect((await ask(owner, { hold_micros: 500_001 })).body.verdict).toBe('insufficient_balance');
  });
  test('posts the same when admitted and settled in a batch', async () => {
    const { userId, keyId, token } = await fund();
    const ids = Array.from({ length: 4 }, () => newId('req'));
    await admitKeyRequests(
      billing.db,
      ids.map((request_id) => keyRequest({ userId, keyId }, { request_id, hold_micros: 1_000_000 })),
    );
    expect(await wallet(token)).toMatchObject({ balance_micros: 10_000_000, held_micros: 4_000_000 });
    const outcomes = [400_000, 1_500_000, 0, null].map((costMicros, place) => ({
      requestId: ids[place] ?? '',
      costMicros,
      outcome: costMicros === null ? ('released' as const) : ('settled' as const),
    }));
    await settleReservations(billing.db, [...outcomes, ...outcomes], 'EUR');
    expect(await wallet(token)).toMatchObject({ balance_micros: 8_100_000, held_micros: 0 });
    const posted = await Promise.all(ids.map(postedOf));
    expect(posted).toEqual([cost('settlement', 400_000), cost('settlement', 1_500_000), [], []]);
  });
  test('is admitted again and holds once when replayed, even if the wallet is empty by then', async () => {
    const owner = await fund();
    const { requestId } = await ask(owner, { hold_micros: 10_000_000 });
    const again = await Promise.all(
      Array.from({ length: 10 }, () => ask(owner, { request_id: requestId, hold_micros: 10_000_000 })),
    );
    expect(new Set(again.map(({ body }) => body.verdict))).toEqual(new Set(['admitted']));
    expect((await wallet(owner.token)).held_micros).toBe(10_000_000);
  });
  test('returns 422 with a request id of another key', async () => {
    const owner = await fund();
    const { requestId } = await ask(owner);
    expect((await ask({ ...owner, keyId: newId('key') }, { request_id: requestId })).body.detail[0].loc).toEqual([
      'body',
      'request_id',
    ]);
  });
});

describe('the balance', () => {
  test('is charged once for outcomes reported concurrently to many replicas, one by one and in batches', async () => {
    const { userId, keyId, token } = await fund();
    const requests = Array.from({ length: 10 }, () => keyRequest({ userId, keyId }, { hold_micros: 900_000 }));
    await admitKeyRequests(billing.db, requests);
    const outcomes = requests.map(({ request_id }) => ({
      requestId: request_id,
      outcome: 'settled' as const,
      costMicros: 100_000,
    }));
    const reports = [...outcomes, ...outcomes].map((outcome) => [outcome]).concat([outcomes, outcomes.toReversed()]);
    const results = await Promise.all(reports.map((settlements) => settleReservations(billing.db, settlements, 'EUR')));
    expect(results.flat().filter(({ effect }) => effect === 'settled')).toHaveLength(10);
    expect(await wallet(token)).toEqual({ balance_micros: 9_000_000, held_micros: 0, currency: 'EUR' });
  });
  test('is charged once for several outcomes of one request in one call', async () => {
    const { userId, keyId, token } = await fund();
    const one = keyRequest({ userId, keyId }, { hold_micros: 900_000 });
    const other = keyRequest({ userId, keyId }, { hold_micros: 900_000 });
    await admitKeyRequests(billing.db, [one, other]);
    const settled = (requestId: string, costMicros: number) => ({
      requestId,
      outcome: 'settled' as const,
      costMicros,
    });
    const results = await settleReservations(
      billing.db,
      [
        { requestId: one.request_id, outcome: 'uncertain', costMicros: null },
        settled(other.request_id, 300_000),
        settled(one.request_id, 200_000),
        settled(one.request_id, 400_000),
      ],
      'EUR',
    );
    expect(results.map(({ effect }) => effect)).toEqual(['uncertain', 'settled', 'settled', 'conflict']);
    expect(await wallet(token)).toEqual({ balance_micros: 9_500_000, held_micros: 0, currency: 'EUR' });
  });
  test.each([1, 3])('pays for requests while the settlement of %i others waits for a lock', async (count) => {
    const owner = await fund();
    const admitted = await Promise.all(Array.from({ length: count }, () => ask(owner)));
    const ids = admitted.map(({ requestId }) => requestId);
    const outcomes = ids.map((requestId) => ({ requestId, outcome: 'settled' as const, costMicros: 7 }));
    const settling = await billing.db.transaction(async (trx) => {
      await trx('reservations').whereIn('request_id', ids).select('request_id').forNoKeyUpdate();
      const results = settleReservations(billing.db, outcomes, 'EUR');
      await expect.poll(() => countWaiting('settle_')).toBe(1);
      expect((await ask(owner)).body.verdict).toBe('admitted');
      return { results };
    });
    expect((await settling.results).map(({ effect }) => effect)).toEqual(ids.map(() => 'settled'));
    const balance_micros = 10_000_000 - count * 7;
    expect(await wallet(owner.token)).toMatchObject({ balance_micros, held_micros: 1_000_000 });
  });
  test('is held once for a request replayed during its settlement, without a deadlock', async () => {
    const { userId, keyId, token } = await fund();
    const first = keyRequest({ userId, keyId }, { hold_micros: 9 });
    const replayed = keyRequest({ userId, keyId }, { hold_micros: 9 });
    await admitKeyRequests(billing.db, [first]);
    await admitKeyRequests(billing.db, [replayed]);
    const outcome = { requestId: replayed.request_id, outcome: 'settled' as const, costMicros: 7 };
    const waiting = await billing.db.transaction(async (trx) => {
      await trx('wallets').where({ svc_user_id: userId }).select('svc_user_id').forNoKeyUpdate();
      const again = admitKeyRequests(billing.db, [replayed]);
      await expect.poll(() => countWaiting('admit_key_requests')).toBe(1);
      const settlement = settleReservations(billing.db, [outcome], 'EUR');
      await expect.poll(() => countWaiting('settle_requests')).toBe(1);
      return { both: Promise.all([again, settlement]) };
    });
    const [[again], [settled]] = await waiting.both;
    expect([again?.verdict, settled?.effect]).toEqual(['admitted', 'settled']);
    expect(await wallet(token)).toMatchObject({ balance_micros: 10_000_000 - 7, held_micros: 9 });
  });
  test('of several accounts is charged by batches in any order, without a deadlock', async () => {
    const owners = await Promise.all(Array.from({ length: 4 }, fund));
    const subscriber = await billing.subscribe();
    const delegated = await Promise.all([billing.admit(subscriber.userId), billing.admit(subscriber.userId)]);
    const inputs = owners.flatMap(({ userId, keyId }) =>
      [1, 2, 3, 4, 5].map((key) => keyRequest({ userId, keyId: `${keyId}-${key % 2}` }, { hold_micros: 9 })),
    );
    await admitKeyRequests(billing.db, inputs);
    const ids = [...inputs.map(({ request_id }) => request_id), ...delegated.map(({ requestId }) => requestId)];
    const outcomes = ids.map((requestId) => ({
      requestId,
      outcome: 'settled' as const,
      costMicros: 7,
    }));
    const rotated = (by: number) => [...outcomes.slice(by), ...outcomes.slice(0, by)];
    // Some batches report a request twice, and others are admitted meanwhile. A deadlock would make a call fail.
    const batches = outcomes.map((outcome, by) =>
      by % 3 === 0 ? [...rotated(by), outcome] : by % 3 === 1 ? rotated(by).reverse() : [outcome],
    );
    const more = () => inputs.map((input) => ({ ...input, request_id: newId('req') }));
    const admissions = [more(), more().reverse(), more(), more().reverse()];
    const [results] = await Promise.all([
      Promise.all(batches.map((batch) => settleReservations(billing.db, batch, 'EUR'))),
      Promise.all(admissions.map((admitted) => admitKeyRequests(billing.db, admitted))),
    ]);
    expect(results.flat().filter(({ effect }) => effect === 'settled')).toHaveLength(outcomes.length);
    for (const { token } of owners) {
      expect(await wallet(token)).toMatchObject({ balance_micros: 10_000_000 - 5 * 7, held_micros: 4 * 5 * 9 });
    }
  });
  test('matches any mix of concurrent holds, outcomes and sweeps', async () => {
    const action = fc.record({
      hold: fc.integer({ min: 0, max: 4_000_000 }),
      end: fc.constantFrom('settled', 'released', 'uncertain', 'none'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 12 }), async (actions) => {
        await billing.setClock('2026-10-15T12:00:00Z');
        const owner = await fund();
        let expected = 10_000_000;
        const late: (() => Promise<unknown>)[] = [];
        const proven: (() => Promise<unknown>)[] = [];
        await Promise.all(
          actions.map(async ({ hold, end }) => {
            const { requestId, body } = await ask(owner, { hold_micros: hold });
            if (body.verdict !== 'admitted') return;
            const cost_micros = Math.floor(hold / 3);
            if (end === 'settled' || end === 'none') expected -= cost_micros;
            const settle = () => billing.settle(requestId, { outcome: 'settled', cost_micros });
            const report = () => (end === 'settled' ? settle() : billing.settle(requestId, { outcome: end }));
            if (end === 'none') late.push(settle, settle);
            else await Promise.all([report(), report()]);
            if (end === 'uncertain') proven.push(() => billing.settle(requestId, { outcome: 'released' }));
          }),
        );
        const { held_micros, balance_micros } = await wallet(owner.token);
        expect(held_micros).toBeLessThanOrEqual(balance_micros);
        expect(await checkBalances(billing.db)).toEqual([]);
        for (const [at, ends] of [['2026-10-15T12:05:00Z', late] as const, ['2026-10-16T13:00:00Z', proven] as const]) {
          await billing.setClock(at);
          await Promise.all([...ends, billing.app.sweep, billing.app.sweep].map((act) => act()));
          expect(await checkBalances(billing.db)).toEqual([]);
        }
        expect(await wallet(owner.token)).toMatchObject({ balance_micros: expected, held_micros: 0 });
      }),
      { numRuns: 25 },
    );
  });
  test('is reported by the check if it or the holds do not match their sources', async () => {
    const { userId, token } = await fund();
    const change = (by: object) => billing.db('wallets').where({ svc_user_id: userId }).update(by);
    await change({ balance_micros: 10_000_001, held_micros: 5 });
    const subject = userId;
    expect(await checkBalances(billing.db)).toEqual([
      { total: 'wallet_balance', subject, recorded: 10_000_001, derived: 10_000_000 },
      { total: 'wallet_held', subject, recorded: 5, derived: 0 },
    ]);
    await change({ balance_micros: 10_000_000, held_micros: 0 });
    expect(await wallet(token)).toMatchObject({ balance_micros: 10_000_000, held_micros: 0 });
  });
});
