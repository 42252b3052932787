import { newId } from '@svc/contracts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances/index.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import { type GatewayAccount, gatewayAccounts } from './support/gateway-accounts.ts';

let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
});
afterAll(() => billing.stop());
beforeEach(() => billing.setClock('2026-10-15T12:00:00Z'));
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const settled = (cost_micros: number) => ({ outcome: 'settled', cost_micros });
const budgetOf = (keyId: string) => billing.db('key_budgets').where({ key_id: keyId }).first();
const writtenOffOf = async (requestId: string): Promise<number> =>
  (await billing.db('reservations').where({ request_id: requestId }).first()).written_off_micros;

describe('a cost above the hold', () => {
  test('takes what is available beside the hold, and writes the rest off', async () => {
    const owner = await accounts.fund(1_000_000);
    const { requestId } = await accounts.ask(owner, { hold_micros: 600_000 });
    await billing.settle(requestId, settled(12_600_000));
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 0, held_micros: 0 });
    expect(await accounts.postedOf(requestId)).toEqual([
      ['settlement', 'income', 12_600_000],
      ['settlement', 'wallet_available', -1_000_000],
      ['settlement', 'write_offs', -11_600_000],
    ]);
    expect(await writtenOffOf(requestId)).toBe(11_600_000);
  });

  test('leaves the holds of other requests alone', async () => {
    const owner = await accounts.fund(1_000_000);
    const other = await accounts.ask(owner, { hold_micros: 300_000 });
    const { requestId } = await accounts.ask(owner, { hold_micros: 500_000 });
    await billing.settle(requestId, settled(5_000_000));
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 300_000, held_micros: 300_000 });
    await billing.settle(other.requestId, settled(300_000));
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 0, held_micros: 0 });
  });

  test('takes no more from a key than its monthly limit leaves beside other holds', async () => {
    const owner = await accounts.fund();
    const limit = { monthly_limit_micros: 1_000_000 };
    const other = await accounts.ask(owner, { ...limit, hold_micros: 300_000 });
    const { requestId } = await accounts.ask(owner, { ...limit, hold_micros: 100_000 });
    await billing.settle(requestId, settled(5_000_000));
    expect(await budgetOf(owner.keyId)).toMatchObject({ month_used_micros: 700_000 });
    await billing.settle(other.requestId, settled(300_000));
    expect(await budgetOf(owner.keyId)).toMatchObject({ month_used_micros: 1_000_000 });
    expect(await accounts.wallet(owner.token)).toMatchObject({ balance_micros: 9_000_000, held_micros: 0 });
  });

  test('writes off the part of a late true cost that nothing covers any more', async () => {
    const owner = await accounts.fund(1_000_000);
    const { requestId } = await accounts.ask(owner, { hold_micros: 1_000_000 });
    await billing.settle(requestId, { outcome: 'uncertain' });
    await billing.setClock('2026-10-16T13:00:00Z');
    await billing.app.sweep();
    await billing.settle(requestId, settled(1_500_000));
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
  test('counts what requests under way hold', async () => {
    const owner = await accounts.fund();
    const limit = { monthly_limit_micros: 1_000_000 };
    const first = await accounts.ask(owner, { ...limit, hold_micros: 600_000 });
    expect((await accounts.ask(owner, { ...limit, hold_micros: 400_001 })).body).toEqual({
      verdict: 'key_monthly_limit_exceeded',
      resets_at: '2026-11-01T00:00:00.000Z',
    });
    expect((await accounts.ask(owner, { ...limit, hold_micros: 400_000 })).body.verdict).toBe('admitted');
    await billing.settle(first.requestId, settled(100_000));
    expect((await accounts.ask(owner, { ...limit, hold_micros: 500_000 })).body.verdict).toBe('admitted');
  });

  test('counts an uncertain request at its estimate', async () => {
    const owner = await accounts.fund();
    const limit = { monthly_limit_micros: 1_000_000 };
    const { requestId } = await accounts.ask(owner, { ...limit, hold_micros: 900_000 });
    await billing.settle(requestId, { outcome: 'uncertain' });
    expect((await accounts.ask(owner, { ...limit, hold_micros: 100_001 })).body.verdict).toBe(
      'key_monthly_limit_exceeded',
    );
    expect((await accounts.ask(owner, { ...limit, hold_micros: 100_000 })).body.verdict).toBe('admitted');
  });

  test('is not passed by a hundred requests at once', async () => {
    const owner = await accounts.fund();
    const asked = await Promise.all(
      Array.from({ length: 100 }, () => accounts.ask(owner, { monthly_limit_micros: 10, hold_micros: 3 })),
    );
    const admitted = asked.filter(({ body }) => body.verdict === 'admitted');
    expect(admitted).toHaveLength(3);
    await Promise.all(admitted.map(({ requestId }) => billing.settle(requestId, settled(84))));
    expect((await budgetOf(owner.keyId)).month_used_micros).toBeLessThanOrEqual(10);
  });

  test('does not count holds of the month before', async () => {
    const owner = await accounts.fund();
    const limit = { monthly_limit_micros: 1_000_000, hold_micros: 1_000_000 };
    const { requestId } = await accounts.ask(owner, limit);
    await billing.setClock('2026-11-01T00:00:00Z');
    expect((await accounts.ask(owner, limit)).body.verdict).toBe('admitted');
    await billing.settle(requestId, settled(1_000_000));
    expect(await budgetOf(owner.keyId)).toMatchObject({ month_used_micros: 0 });
  });
});

test('no mix of requests, reported costs and sweeps takes a wallet below zero or a key above its limit', async () => {
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
    { hold, cost, end }: { hold: number; cost: number; end: string },
  ) => {
    const question = { monthly_limit_micros: limitMicros, hold_micros: hold };
    const { requestId, body } = await accounts.ask({ ...owner, keyId }, question);
    if (body.verdict !== 'admitted') return;
    if (end === 'late') await billing.settle(requestId, { outcome: 'uncertain' });
    await billing.settle(requestId, end === 'settled' || end === 'late' ? settled(cost) : { outcome: end });
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
