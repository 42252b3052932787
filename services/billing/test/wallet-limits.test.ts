import { type LeaseAnswer, newId } from '@svc/contracts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import { type GatewayAccount, gatewayAccounts, leaseAsk } from './support/gateway-accounts.ts';

let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock('2026-10-15T12:00:00Z'));
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const settled = (cost_micros: number) => ({ outcome: 'settled' as const, cost_micros });
const budgetOf = (keyId: string) => billing.db('key_budgets').where({ key_id: keyId }).first();
const writtenOffOf = async (requestId: string): Promise<number> =>
  (await billing.db('key_requests').where({ request_id: requestId }).first()).written_off_micros;

describe('an API-key request', () => {
  test('is refused without a wallet, and beyond the available balance', async () => {
    const without = await accounts.signIn();
    const refusal = { verdict: 'insufficient_balance', available_micros: 0 };
    // A request that costs nothing would count in no minute.
    for (const hold_micros of [1, 0]) expect((await accounts.ask(without, { hold_micros })).body).toEqual(refusal);
    const owner = await accounts.fund();
    await accounts.ask(owner, { hold_micros: 6_000_000 });
    expect((await accounts.ask(owner, { hold_micros: 4_000_001 })).body.verdict).toBe('insufficient_balance');
    expect((await accounts.ask(owner, { hold_micros: 4_000_000 })).body.verdict).toBe('granted');
  });
  test('is refused beyond the exact rate limit, with the time of the reset', async () => {
    const owner = await accounts.fund();
    const limits = { requests_per_minute: 5, hold_micros: 1 };
    const answers = await Promise.all(Array.from({ length: 40 }, () => accounts.ask(owner, limits)));
    expect(answers.filter(({ body }) => body.verdict === 'granted')).toHaveLength(5);
    expect(answers.filter(({ body }) => body.verdict === 'rate_limit_exceeded')).toHaveLength(35);
    await billing.setClock('2026-10-15T12:00:59.500Z');
    const refused = await accounts.ask(owner, limits);
    expect(refused.body).toEqual({ verdict: 'rate_limit_exceeded', resets_at: '2026-10-15T12:01:00.000Z' });
    expect(refused.answer).toMatchObject({ requests_left: 0, minute_ends_in_ms: 500 });
    await billing.setClock('2026-10-15T12:01:00Z');
    const granted = await accounts.ask(owner, limits);
    expect(granted.body.verdict).toBe('granted');
    expect(granted.answer).toMatchObject({ requests_left: 4, minute_ends_in_ms: 60_000 });
  });
  test('is refused once its key has reached the monthly limit, until the calendar month ends', async () => {
    const owner = await accounts.fund();
    const limits = { monthly_limit_micros: 500_000, hold_micros: 500_000 };
    const { requestId } = await accounts.ask(owner, limits);
    await accounts.settle(requestId, { outcome: 'settled', cost_micros: 500_000 });
    expect((await accounts.ask(owner, limits)).body).toEqual({
      verdict: 'key_monthly_limit_exceeded',
      available_micros: 0,
      resets_at: '2026-11-01T00:00:00.000Z',
    });
    expect((await accounts.ask({ ...owner, keyId: newId('key') }, limits)).body.verdict).toBe('granted');
    await billing.setClock('2026-11-01T00:00:00Z');
    expect((await accounts.ask(owner, limits)).body.verdict).toBe('granted');
  });
  test('gets what wallet and month have left if it accepts that, and else learns how much it is', async () => {
    const owner = await accounts.fund();
    const month = { monthly_limit_micros: 500_000 };
    const ask = async (hold_micros: number, micros_least: number, limits: object = month) =>
      (await accounts.ask(owner, { hold_micros, micros_least, ...limits })).body;
    expect(await ask(400_000, 100_000)).toEqual({ verdict: 'granted' });
    expect(await ask(400_000, 100_001)).toMatchObject({
      verdict: 'key_monthly_limit_exceeded',
      available_micros: 100_000,
    });
    expect(await ask(400_000, 100_000)).toEqual({ verdict: 'granted', micros: 100_000 });
    const other = { ...owner, keyId: newId('key') };
    expect((await accounts.ask(other, { hold_micros: 20_000_000, micros_least: 1 })).body).toEqual({
      verdict: 'granted',
      micros: 9_500_000,
    });
    expect(await ask(10, 1, {})).toEqual({ verdict: 'insufficient_balance', available_micros: 0 });
    expect((await accounts.wallet(owner.token)).held_micros).toBe(10_000_000);
  });
});

describe('the limit of a wallet or key', () => {
  test('admits concurrent requests only up to the balance', async () => {
    const owner = await accounts.fund();
    const answers = await Promise.all(Array.from({ length: 60 }, () => accounts.ask(owner)));
    const admitted = answers.filter(({ body }) => body.verdict === 'granted');
    expect(admitted).toHaveLength(10);
    await Promise.all(
      admitted.map(({ requestId }) => accounts.settle(requestId, { outcome: 'settled', cost_micros: 1_000_000 })),
    );
    expect(await accounts.wallet(owner.token)).toEqual({ balance_micros: 0, held_micros: 0, currency: 'EUR' });
  });
  test.each([
    ['the wallet', {}, 'insufficient_balance'],
    ['the rate limit', { requests_per_minute: 10 }, 'rate_limit_exceeded'],
  ])('is not exceeded by concurrent requests of many replicas: %s', async (_limit, limits, refusal) => {
    const owner = await accounts.fund();
    const hold_micros = refusal === 'insufficient_balance' ? 1_000_000 : 0;
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => accounts.ask(owner, { hold_micros, ...limits })),
    );
    const verdicts = answers.map(({ body }) => body.verdict);
    expect(verdicts.filter((verdict) => verdict === 'granted')).toHaveLength(10);
    expect(verdicts.filter((verdict) => verdict === refusal)).toHaveLength(20);
    expect((await accounts.wallet(owner.token)).held_micros).toBe(10 * hold_micros);
  });
  test('grants the same requests of a batch as one by one, on one lease or several', async () => {
    const holds = fc.array(fc.constantFrom(0, 1_000_000, 3_000_000, 6_000_000), { minLength: 1, maxLength: 10 });
    const rate = fc.constantFrom(undefined, 2, 3);
    await fc.assert(
      fc.asyncProperty(holds, rate, async (holdOf, perMinute) => {
        const limits = perMinute === undefined ? {} : { requests_per_minute: perMinute };
        const asksOf = (owner: GatewayAccount) =>
          holdOf.map((hold_micros) => leaseAsk(owner, { hold_micros, ...limits }));
        const each = await accounts.fund();
        const together = await accounts.fund();
        const grantsOf = ({ decisions }: LeaseAnswer) => decisions.map(({ verdict }) => verdict === 'granted');
        const oneByOne: boolean[][] = [];
        for (const ask of asksOf(each)) oneByOne.push(grantsOf(await accounts.sendOne(ask)));
        expect((await accounts.send(asksOf(together))).map(grantsOf)).toEqual(oneByOne);
        const onOneLease = await accounts.fund();
        const [first, ...others] = asksOf(onOneLease);
        if (first === undefined) throw new Error('there is at least one request');
        const needs = [...first.needs, ...others.flatMap((other) => other.needs)];
        expect(grantsOf(await accounts.sendOne({ ...first, needs }))).toEqual(oneByOne.flat());
        const held = await Promise.all([each, together, onOneLease].map(({ token }) => accounts.wallet(token)));
        expect(new Set(held.map(({ held_micros }) => held_micros)).size).toBe(1);
        expect(await checkBalances(billing.db)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});

describe('a cost above the hold', () => {
  test('takes the available balance beyond the hold, and writes off the rest', async () => {
    const owner = await accounts.fund(1_000_000);
    const { requestId } = await accounts.ask(owner, { hold_micros: 600_000 });
    await accounts.settle(requestId, settled(12_600_000));
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 0, held_micros: 0 });
    expect(await accounts.postedOf(requestId)).toEqual([
      ['settlement', 'income', 12_600_000],
      ['settlement', 'wallet_available', -1_000_000],
      ['settlement', 'write_offs', -11_600_000],
    ]);
    expect(await writtenOffOf(requestId)).toBe(11_600_000);
  });

  test('does not touch the holds of other requests', async () => {
    const owner = await accounts.fund(1_000_000);
    const other = await accounts.ask(owner, { hold_micros: 300_000 });
    const { requestId } = await accounts.ask(owner, { hold_micros: 500_000 });
    await accounts.settle(requestId, settled(5_000_000));
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 300_000, held_micros: 300_000 });
    await accounts.settle(other.requestId, settled(300_000));
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 0, held_micros: 0 });
  });

  test('charges a key at most the rest of its monthly limit, minus other holds', async () => {
    const owner = await accounts.fund();
    const limit = { monthly_limit_micros: 1_000_000 };
    const other = await accounts.ask(owner, { ...limit, hold_micros: 300_000 });
    const { requestId } = await accounts.ask(owner, { ...limit, hold_micros: 100_000 });
    await accounts.settle(requestId, settled(5_000_000));
    expect(await budgetOf(owner.keyId)).toMatchObject({ month_used_micros: 700_000 });
    await accounts.settle(other.requestId, settled(300_000));
    expect(await budgetOf(owner.keyId)).toMatchObject({ month_used_micros: 1_000_000 });
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 9_000_000, held_micros: 0 });
  });

  test('writes off the part of a late true cost that the wallet no longer covers', async () => {
    const owner = await accounts.fund(1_000_000);
    const { requestId } = await accounts.ask(owner, { hold_micros: 1_000_000 });
    await accounts.settle(requestId, { outcome: 'uncertain' });
    await billing.setClock('2026-10-16T13:00:00Z');
    await billing.app.sweep();
    await accounts.settle(requestId, settled(1_500_000));
    expect(await writtenOffOf(requestId)).toBe(500_000);
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 0, held_micros: 0 });
    expect(await accounts.postedOf(requestId)).toEqual([
      ['settlement', 'income', 1_000_000],
      ['settlement', 'wallet_available', -1_000_000],
      ['adjustment', 'income', 500_000],
      ['adjustment', 'write_offs', -500_000],
    ]);
  });
});

describe('the monthly limit of a key', () => {
  test('counts the holds of requests in flight', async () => {
    const owner = await accounts.fund();
    const limit = { monthly_limit_micros: 1_000_000 };
    const first = await accounts.ask(owner, { ...limit, hold_micros: 600_000 });
    expect((await accounts.ask(owner, { ...limit, hold_micros: 400_001 })).body).toEqual({
      verdict: 'key_monthly_limit_exceeded',
      available_micros: 400_000,
      resets_at: '2026-11-01T00:00:00.000Z',
    });
    expect((await accounts.ask(owner, { ...limit, hold_micros: 400_000 })).body.verdict).toBe('granted');
    await accounts.settle(first.requestId, settled(100_000));
    expect((await accounts.ask(owner, { ...limit, hold_micros: 500_000 })).body.verdict).toBe('granted');
  });

  test('counts an uncertain request at its estimate', async () => {
    const owner = await accounts.fund();
    const limit = { monthly_limit_micros: 1_000_000 };
    const { requestId } = await accounts.ask(owner, { ...limit, hold_micros: 900_000 });
    await accounts.settle(requestId, { outcome: 'uncertain' });
    expect((await accounts.ask(owner, { ...limit, hold_micros: 100_001 })).body.verdict).toBe(
      'key_monthly_limit_exceeded',
    );
    expect((await accounts.ask(owner, { ...limit, hold_micros: 100_000 })).body.verdict).toBe('granted');
  });

  test('is not exceeded by a hundred concurrent requests', async () => {
    const owner = await accounts.fund();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => accounts.ask(owner, { monthly_limit_micros: 10, hold_micros: 3 })),
    );
    const admitted = answers.filter(({ body }) => body.verdict === 'granted');
    expect(admitted).toHaveLength(3);
    await Promise.all(admitted.map(({ requestId }) => accounts.settle(requestId, settled(84))));
    expect((await budgetOf(owner.keyId)).month_used_micros).toBeLessThanOrEqual(10);
  });

  test('does not count holds of the previous month', async () => {
    const owner = await accounts.fund();
    const limit = { monthly_limit_micros: 1_000_000, hold_micros: 1_000_000 };
    const { requestId } = await accounts.ask(owner, limit);
    await billing.setClock('2026-11-01T00:00:00Z');
    expect((await accounts.ask(owner, limit)).body.verdict).toBe('granted');
    await accounts.settle(requestId, settled(1_000_000));
    expect(await budgetOf(owner.keyId)).toMatchObject({ month_used_micros: 0 });
  });
});

test('keeps wallets at or above zero and keys within their limit under any mix of requests, costs and sweeps', async () => {
  const action = fc.record({
    key: fc.nat(1),
    hold: fc.integer({ min: 0, max: 500_000 }),
    cost: fc.integer({ min: 0, max: 3_000_000 }),
    end: fc.constantFrom('settled', 'released', 'uncertain', 'late'),
  });
  const limitMicros = 800_000;
  const play = async (
    owner: GatewayAccount,
    keyId: string,
    { hold, cost, end }: { hold: number; cost: number; end: 'settled' | 'released' | 'uncertain' | 'late' },
  ) => {
    const request = { monthly_limit_micros: limitMicros, hold_micros: hold };
    const { requestId, body } = await accounts.ask({ ...owner, keyId }, request);
    if (body.verdict !== 'granted') return;
    if (end === 'late') await accounts.settle(requestId, { outcome: 'uncertain' });
    await accounts.settle(requestId, end === 'settled' || end === 'late' ? settled(cost) : { outcome: end });
  };
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 12 }), async (actions) => {
      await billing.setClock('2026-10-15T12:00:00Z');
      const owner = await accounts.fund(1_000_000);
      const keys = [owner.keyId, newId('key')];
      await Promise.all(actions.map((each) => play(owner, keys[each.key] ?? owner.keyId, each)));
      await billing.setClock('2026-10-16T13:00:00Z');
      await Promise.all([billing.app.sweep(), billing.app.sweep()]);
      const { balance_micros, held_micros } = await accounts.wallet(owner.token);
      expect(held_micros).toBe(0);
      expect(balance_micros).toBeGreaterThanOrEqual(0);
      for (const keyId of keys) {
        expect((await budgetOf(keyId))?.month_used_micros ?? 0).toBeLessThanOrEqual(limitMicros);
      }
      expect(await checkBalances(billing.db)).toEqual([]);
    }),
    { numRuns: 25 },
  );
});
