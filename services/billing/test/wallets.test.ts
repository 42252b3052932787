import { events, newId } from '@svc/contracts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { settleKeyRequests } from '../src/leases/index.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';

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
const settle = (...args: Parameters<typeof accounts.settle>) => accounts.settle(...args);
const settled = (cost_micros: number) => ({ outcome: 'settled' as const, cost_micros });
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
      [
        events.walletCredited.subject,
        1,
        {
          svc_user_id: userId,
          amount_micros: 25_000_000,
          balance_micros: 25_000_000,
          currency: 'EUR',
          source: 'checkout',
        },
      ],
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
    [999_999, 'greater_than_equal'],
    [1_005_001, 'value_error'],
  ])('return 422 for %d micros', async (amount, type) => {
    const { token } = await signIn();
    const answer = await startTopUp(token, amount);
    expect([answer.status, answer.body.detail[0].type]).toEqual([422, type]);
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
    expect(body).toEqual({ verdict: 'granted' });
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 10_000_000, held_micros: 1_000_000 });
    expect(await postedOf(requestId)).toEqual([]);
    expect(await settle(requestId, { outcome: 'settled', cost_micros: 400_000 })).toBe('settled');
    expect(await settle(requestId, { outcome: 'settled', cost_micros: 400_000 })).toBe('settled');
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 9_600_000, held_micros: 0 });
    expect(await postedOf(requestId)).toEqual(cost('settlement', 400_000));
  });
  test('returns its hold without a posting when released, and keeps it while uncertain', async () => {
    const owner = await fund();
    const one = await ask(owner);
    const two = await ask(owner);
    await settle(one.requestId, { outcome: 'released' });
    await settle(two.requestId, { outcome: 'uncertain' });
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 10_000_000, held_micros: 1_000_000 });
    for (const { requestId } of [one, two]) expect(await postedOf(requestId)).toEqual([]);
    await billing.setClock('2026-10-16T12:30:00Z');
    await billing.app.sweep();
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 9_000_000, held_micros: 0 });
    await settle(two.requestId, { outcome: 'settled', cost_micros: 250_000 });
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 9_750_000, held_micros: 0 });
    expect(await postedOf(two.requestId)).toEqual([...cost('settlement', 1_000_000), ...cost('adjustment', -750_000)]);
  });
  test('takes a cost above the hold from the available balance', async () => {
    const owner = await fund();
    const { requestId } = await ask(owner, { hold_micros: 9_000_000 });
    await settle(requestId, { outcome: 'settled', cost_micros: 9_500_000 });
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 500_000, held_micros: 0 });
    expect(await postedOf(requestId)).toEqual(cost('settlement', 9_500_000));
    expect((await ask(owner, { hold_micros: 500_001 })).body.verdict).toBe('insufficient_balance');
  });
  test('is posted with others of its wallet, in one posting, when settled in a batch', async () => {
    const owner = await fund();
    const asked = await Promise.all([1, 2, 3, 4].map(() => ask(owner)));
    const results = [settled(400_000), settled(1_500_000), settled(0), { outcome: 'released' as const }];
    const outcomes = asked.map(({ requestId }, place) => accounts.outcomeOf(requestId, results[place] ?? settled(0)));
    await settleKeyRequests(billing.db, [...outcomes, ...outcomes], 'EUR');
    for (const [place, { requestId }] of asked.entries()) {
      await accounts.endLease(requestId, [400_000, 1_500_000, 0, 0][place] ?? 0);
    }
    expect(await wallet(owner.token)).toMatchObject({ balance_micros: 8_100_000, held_micros: 0 });
    const posted = await Promise.all(asked.map(({ requestId }) => postedOf(requestId)));
    const shared = cost('settlement', 1_900_000);
    expect(posted).toEqual([shared, shared, [], []]);
  });
});

describe('the balance', () => {
  test('is charged once for outcomes reported concurrently to many replicas, one by one and in batches', async () => {
    const owner = await fund();
    const asked = await Promise.all(Array.from({ length: 10 }, () => ask(owner, { hold_micros: 900_000 })));
    const outcomes = asked.map(({ requestId }) => accounts.outcomeOf(requestId, settled(100_000)));
    const reports = [...outcomes, ...outcomes].map((outcome) => [outcome]).concat([outcomes, outcomes.toReversed()]);
    const results = await Promise.all(reports.map((report) => settleKeyRequests(billing.db, report, 'EUR')));
    expect(results.flat().filter(({ effect }) => effect === 'settled')).toHaveLength(10);
    for (const { requestId } of asked) await accounts.endLease(requestId, 100_000);
    expect(await wallet(owner.token)).toEqual({ balance_micros: 9_000_000, held_micros: 0, currency: 'EUR' });
  });
  test('is charged once for several outcomes of one request in one call', async () => {
    const owner = await fund();
    const one = (await ask(owner, { hold_micros: 900_000 })).requestId;
    const other = (await ask(owner, { hold_micros: 900_000 })).requestId;
    const results = await settleKeyRequests(
      billing.db,
      [
        accounts.outcomeOf(one, { outcome: 'uncertain' }),
        accounts.outcomeOf(other, settled(300_000)),
        accounts.outcomeOf(one, settled(200_000)),
        accounts.outcomeOf(one, settled(400_000)),
      ],
      'EUR',
    );
    expect(results.map(({ effect }) => effect)).toEqual(['uncertain', 'settled', 'settled', 'conflict']);
    await accounts.endLease(one, 900_000);
    await accounts.endLease(other, 300_000);
    expect(await wallet(owner.token)).toEqual({ balance_micros: 9_500_000, held_micros: 0, currency: 'EUR' });
  });
  test('of several accounts is charged by batches in any order, without a deadlock', async () => {
    const owners = await Promise.all(Array.from({ length: 4 }, fund));
    const keysOf = ({ userId }: { userId: string }) => [1, 2].map(() => ({ userId, keyId: newId('key') }));
    const asking = owners.flatMap((owner) => [...keysOf(owner), ...keysOf(owner), ...keysOf(owner)]);
    const asked = await Promise.all(asking.map((key) => ask(key, { hold_micros: 9 })));
    const outcomes = asked.map(({ requestId }) => accounts.outcomeOf(requestId, settled(7)));
    const rotated = (by: number) => [...outcomes.slice(by), ...outcomes.slice(0, by)];
    // Some batches report a request twice, and leases are granted meanwhile. A deadlock would make a call fail.
    const batches = outcomes.map((outcome, by) =>
      by % 3 === 0 ? [...rotated(by), outcome] : by % 3 === 1 ? rotated(by).reverse() : [outcome],
    );
    const [results] = await Promise.all([
      Promise.all(batches.map((batch) => settleKeyRequests(billing.db, batch, 'EUR'))),
      Promise.all(asking.map((key) => ask(key, { hold_micros: 9 }))),
    ]);
    expect(results.flat().filter(({ effect }) => effect === 'settled')).toHaveLength(outcomes.length);
    for (const { requestId } of asked) await accounts.endLease(requestId, 7);
    for (const { token } of owners) {
      expect(await wallet(token)).toMatchObject({ balance_micros: 10_000_000 - 6 * 7, held_micros: 6 * 9 });
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
            if (body.verdict !== 'granted') return;
            const cost_micros = Math.floor(hold / 3);
            if (end === 'settled' || end === 'none') expected -= cost_micros;
            const settleIt = () => settle(requestId, { outcome: 'settled', cost_micros });
            const report = () =>
              end === 'settled' || end === 'none' ? settleIt() : settle(requestId, { outcome: end });
            if (end === 'none') late.push(settleIt, settleIt);
            else await Promise.all([report(), report()]);
            if (end === 'uncertain') proven.push(() => settle(requestId, { outcome: 'released' }));
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
  }, 120_000);
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
