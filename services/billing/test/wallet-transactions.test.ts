import { newId } from '@svc/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestBilling, testBilling } from './support/billing.ts';
import { type GatewayAccount, gatewayAccounts } from './support/gateway-accounts.ts';

let billing: TestBilling;
let accounts: ReturnType<typeof gatewayAccounts>;
let owner: GatewayAccount;
beforeAll(async () => {
  billing = await testBilling();
  accounts = gatewayAccounts(billing);
  await billing.setClock('2026-10-15T12:00:00Z');
  owner = await accounts.fund(10_000_000);
  await use(300);
  await use(200);
  await billing.setClock('2026-10-16T09:00:00Z');
  await use(50);
  await topUp(5_000_000);
  await use(25);
});
afterAll(() => billing.stop());

const use = async (costMicros: number) => {
  const { requestId } = await accounts.ask(owner, { hold_micros: 1_000 });
  await accounts.settle(requestId, { outcome: 'settled', cost_micros: costMicros });
};
const topUp = async (amountMicros: number) => {
  const { body } = await accounts.startTopUp(owner.token, amountMicros);
  await billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
};
const list = async (query = '', token = owner.token) =>
  (await billing.call('GET', `/v1/gateway/wallet/transactions${query}`, { token })).body;

test('lists top-ups and one usage row for each UTC day, newest first, with the balance after each', async () => {
  expect(await list()).toEqual({
    data: [
      expect.objectContaining({ type: 'usage', amount_micros: -75, balance_after_micros: 14_999_425 }),
      expect.objectContaining({ type: 'top_up', amount_micros: 5_000_000, balance_after_micros: 14_999_500 }),
      {
        id: 'usage_20261015',
        type: 'usage',
        amount_micros: -500,
        balance_after_micros: 9_999_500,
        created_at: '2026-10-15T12:00:00.000Z',
        description: 'API usage on 2026-10-15 (UTC)',
      },
      expect.objectContaining({ type: 'top_up', amount_micros: 10_000_000, balance_after_micros: 10_000_000 }),
    ],
    has_more: false,
  });
  expect((await accounts.wallet(owner.token)).balance_micros).toBe(14_999_425);
});

test('pages without gaps or repetitions', async () => {
  const whole = await list();
  const first = await list('?limit=3');
  expect(first.has_more).toBe(true);
  const second = await list(`?limit=3&after=${first.data[2].id}`);
  expect(second.has_more).toBe(false);
  expect([...first.data, ...second.data]).toEqual(whole.data);
});

test('is empty for another account, and after an unknown id', async () => {
  const token = await billing.tokens.consoleSession({ userId: newId('usr') });
  expect(await list('', token)).toEqual({ data: [], has_more: false });
  expect(await list('?after=txn_999999')).toEqual({ data: [], has_more: false });
});
