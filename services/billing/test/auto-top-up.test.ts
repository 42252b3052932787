import { events, newId } from '@svc/contracts';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { testBilling } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';

const billing = await testBilling();
const { fund, ask, settle, signIn, startTopUp, wallet } = gatewayAccounts(billing);
afterAll(() => billing.stop());
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

type Owner = Awaited<ReturnType<typeof signIn>>;
const PATH = '/v1/gateway/wallet/auto-top-up';
const SETTINGS = {
  enabled: true,
  below_micros: 4_000_000,
  amount_micros: 10_000_000,
  monthly_max_micros: 25_000_000,
};
const change = ({ token }: Owner, json: object = {}) =>
  billing.call('PUT', PATH, { token, json: { ...SETTINGS, ...json } });
const read = async ({ token }: Owner) => (await billing.call('GET', PATH, { token })).body;
const balanceOf = async ({ token }: Owner): Promise<number> => (await wallet(token)).balance_micros;
const chargesOf = ({ userId }: Owner) =>
  billing.db('checkout_sessions').where({ svc_user_id: userId, is_automatic: true }).orderBy('id');
const failuresOf = async ({ userId }: Owner) => {
  const { subject, schema } = events.autoTopUpFailed;
  const rows = await billing.db('outbox').where({ subject }).whereRaw("payload->>'svc_user_id' = ?", [userId]);
  return rows.map(({ payload }) => schema.parse(payload));
};
const run = () => billing.topUpWallets();
/** Settles an API-key request at this cost. */
const spend = async (owner: Owner, cost_micros: number): Promise<void> => {
  const { requestId, body } = await ask(owner, { hold_micros: cost_micros });
  expect(body.verdict).toBe('granted');
  await settle(requestId, { outcome: 'settled', cost_micros });
};

describe('the settings', () => {
  test('are off until they are set', async () => {
    expect(await read(await signIn())).toMatchObject({ enabled: false, amount_micros: 20_000_000 });
  });

  test('are turned on only with a saved payment method', async () => {
    const stranger = await signIn();
    expect(await change(stranger)).toMatchObject({ status: 409, body: { detail: { code: 'payment_method_missing' } } });
    expect((await change(stranger, { enabled: false })).status).toBe(200);
    const owner = await fund();
    expect(await change(owner)).toMatchObject({ status: 200, body: SETTINGS });
    expect(await read(owner)).toEqual(SETTINGS);
    const subscriber = await billing.subscribe();
    expect((await change({ ...subscriber, keyId: newId('key') })).status).toBe(200);
    await change({ ...subscriber, keyId: newId('key') }, { enabled: false });
  });

  test('are turned on only by a person who has authenticated recently', async () => {
    const owner = await fund();
    const claims = { auth_time: Math.floor(Date.now() / 1000) - 901 };
    const stale = { ...owner, token: await billing.tokens.consoleSession({ userId: owner.userId, claims }) };
    expect(await change(stale)).toMatchObject({ status: 403, body: { detail: { code: 'reauthentication_required' } } });
    expect((await change(stale, { enabled: false })).status).toBe(200);
  });

  test.each([{ amount_micros: 0 }, { below_micros: -1 }, { enabled: 'yes' }, { more: 1 }])(
    'answer 422 for %j',
    async (json) => {
      expect((await change(await fund(), json)).status).toBe(422);
    },
  );
});

describe('an automatic top-up', () => {
  test('is charged once when 100 parallel requests take the wallet below the threshold, from two replicas', async () => {
    const owner = await fund(10_000_000);
    await change(owner);
    await Promise.all([
      ...Array.from({ length: 100 }, () => spend(owner, 65_000)),
      ...Array.from({ length: 10 }, () => run()),
    ]);
    await Promise.all([run(), run()]);
    expect(await chargesOf(owner)).toMatchObject([{ status: 'complete', amount_micros: 10_000_000 }]);
    expect(await balanceOf(owner)).toBe(10_000_000 - 6_500_000 + 10_000_000);
    const charged = billing.stripe
      .list('payment_intent')
      .filter(({ metadata }) => metadata['svc_user_id'] === owner.userId);
    expect(charged).toHaveLength(1);
  });

  test('compares the threshold with what is available, without holds', async () => {
    const owner = await fund(5_000_000);
    await change(owner);
    await run();
    expect(await chargesOf(owner)).toHaveLength(0);
    await ask(owner, { hold_micros: 1_000_001 });
    await run();
    expect(await chargesOf(owner)).toHaveLength(1);
  });

  test('never exceeds the ceiling of a UTC month, and goes on in the next month', async () => {
    const owner = await fund(1_000_000);
    await change(owner, { below_micros: 100_000_000 });
    await Promise.all(Array.from({ length: 20 }, () => run()));
    for (let round = 0; round < 3; round += 1) await run();
    expect(await chargesOf(owner)).toHaveLength(2);
    expect(await balanceOf(owner)).toBe(21_000_000);
    const [{ created_at: last }] = (await chargesOf(owner)).toReversed();
    await billing.setClock(new Date(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() + 1, 1)));
    try {
      await run();
      expect(await chargesOf(owner)).toHaveLength(3);
    } finally {
      await billing.setClock(null);
      await change(owner, { enabled: false });
    }
  });

  test.each([
    ['declines_renewals', 'declined'],
    ['asks_to_confirm', 'authentication_required'],
  ])('that fails with the card %s turns itself off and publishes why, once', async (card, reason) => {
    const owner = await signIn();
    const { body } = await startTopUp(owner.token, 1_000_000);
    const submit = (form: Record<string, string>) =>
      billing.call('POST', `/sandbox/payments/sessions/${body.session_id}/submit`, { form });
    await submit({ action: 'pay', card });
    if (card === 'asks_to_confirm') await submit({ action: 'confirm' });
    expect((await change(owner)).status).toBe(200);
    await Promise.all([run(), run(), run()]);
    await run();
    expect(await read(owner)).toEqual({ ...SETTINGS, enabled: false });
    expect(await failuresOf(owner)).toEqual([
      { svc_user_id: owner.userId, amount_micros: 10_000_000, currency: 'EUR', reason },
    ]);
    expect(await balanceOf(owner)).toBe(1_000_000);
  });

  test('is refunded like any other top-up', async () => {
    const owner = await fund(1_000_000);
    await change(owner);
    await run();
    const [{ id }] = await chargesOf(owner);
    const refund = { refund_id: newId('evt'), session_id: id, amount_micros: 2_000_000 };
    const { body } = await billing.internal('POST', `/internal/accounts/${owner.userId}/wallet/refunds`, refund);
    expect(body).toMatchObject({ state: 'refunded' });
    expect(await balanceOf(owner)).toBe(9_000_000);
    await billing.call('POST', '/v1/subscriptions/checkout/confirm', { token: owner.token, json: { session_id: id } });
    expect(await balanceOf(owner)).toBe(9_000_000);
  });
});
