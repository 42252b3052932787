import { newId } from '@svc/contracts';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { RETURNS } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, signIn, confirm, pay, deliver } = await stripeBilling();
afterAll(stop);
beforeEach(reset);
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

/** Creates an account with a paid top-up of 10 EUR. */
const topUp = async () => {
  const { userId, token } = await signIn();
  const json = { amount_micros: 10_000_000, ...RETURNS };
  const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
  const { payment_intent } = pay(body.session_id);
  const get = async (path: string) => (await billing.call('GET', `/v1/gateway/wallet${path}`, { token })).body;
  return {
    userId,
    token,
    sessionId: body.session_id,
    payment: String(payment_intent),
    balance: async () => (await get('')).balance_micros,
    transactions: async () => {
      const { data } = await get('/transactions');
      return data.map((row: Record<string, unknown>) => [row['type'], row['amount_micros'], row['description']]);
    },
  };
};
type TopUp = Awaited<ReturnType<typeof topUp>>;
const refundAtStripe = ({ payment }: TopUp, amount: number, status = 'succeeded') =>
  stripe.add('refund', { payment_intent: payment, amount, currency: 'eur', status, metadata: {} });
const dispute = ({ payment }: TopUp, status: string) =>
  stripe.add('dispute', { payment_intent: payment, amount: 1_000, currency: 'eur', status });
const chargeOf = ({ payment }: TopUp) => stripe.add('charge', { payment_intent: payment });
const TOP_UP = ['top_up', 10_000_000, 'Top-up'];

describe('a refund made at Stripe', () => {
  test('is taken from the wallet once, from any of its events, repeated and in parallel', async () => {
    const owner = await topUp();
    await confirm(owner.token, owner.sessionId);
    const refund = refundAtStripe(owner, 250);
    const charge = chargeOf(owner);
    const sent = ['refund.created', 'refund.updated', 'charge.refund.updated'].map((type) =>
      stripe.event(type, refund),
    );
    const answers = await Promise.all(
      [...sent, ...sent, stripe.event('charge.refunded', charge)].map((e) => deliver(e)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(200));
    expect(await owner.balance()).toBe(7_500_000);
    expect(await owner.transactions()).toEqual([['refund', -2_500_000, 'Refund of a top-up'], TOP_UP]);
    refundAtStripe(owner, 750);
    await deliver(stripe.event('charge.refunded', charge));
    expect(await owner.balance()).toBe(0);
  });

  test('is given back if it fails', async () => {
    const owner = await topUp();
    await confirm(owner.token, owner.sessionId);
    const refund = refundAtStripe(owner, 1_000, 'pending');
    await deliver(stripe.event('refund.created', refund));
    expect(await owner.balance()).toBe(0);
    stripe.update(refund, { status: 'failed' });
    await deliver(stripe.event('refund.failed', refund));
    await deliver(stripe.event('refund.updated', refund));
    expect(await owner.balance()).toBe(10_000_000);
    const [given] = await owner.transactions();
    expect(given).toEqual(['adjustment', 10_000_000, 'Refund that was refused by the payment provider']);
  });

  test('credits and takes the payment if its event overtakes that of the checkout', async () => {
    const owner = await topUp();
    await deliver(stripe.event('refund.created', refundAtStripe(owner, 100)));
    expect(await owner.balance()).toBe(9_000_000);
    await confirm(owner.token, owner.sessionId);
    expect(await owner.balance()).toBe(9_000_000);
  });

  test('reduces what an operator can still refund, and does not count refunds of operators twice', async () => {
    const owner = await topUp();
    await confirm(owner.token, owner.sessionId);
    await deliver(stripe.event('refund.created', refundAtStripe(owner, 400)));
    const refund = (amount_micros: number) =>
      billing.internal('POST', `/internal/accounts/${owner.userId}/wallet/refunds`, {
        refund_id: newId('evt'),
        session_id: owner.sessionId,
        amount_micros,
      });
    expect((await refund(6_010_000)).body.detail.code).toBe('refund_not_possible');
    expect((await refund(6_000_000)).body.state).toBe('refunded');
    const own = stripe.list('refund').find(({ metadata }) => Object(metadata)['svc_refund_id'] !== undefined);
    await deliver(stripe.event('refund.created', String(own?.['id'])));
    expect(await owner.balance()).toBe(0);
    // Stripe could not pay the refund in the end.
    stripe.update(String(own?.['id']), { status: 'failed' });
    for (let time = 0; time < 2; time += 1) await deliver(stripe.event('refund.failed', String(own?.['id'])));
    expect(await owner.balance()).toBe(6_000_000);
  });
});

describe('a dispute', () => {
  test('takes the payment, below zero if it is spent, turns automatic top-ups off, and gives it back once it is won', async () => {
    const owner = await topUp();
    await confirm(owner.token, owner.sessionId);
    const auto = { enabled: true, below_micros: 1, amount_micros: 5_000_000, monthly_max_micros: 5_000_000 };
    const path = '/v1/gateway/wallet/auto-top-up';
    expect((await billing.call('PUT', path, { token: owner.token, json: auto })).status).toBe(200);
    const { requestId, settle } = await spend(owner.userId, 4_000_000);
    await settle(requestId, { outcome: 'settled', cost_micros: 4_000_000 });
    const id = dispute(owner, 'needs_response');
    await Promise.all([
      deliver(stripe.event('charge.dispute.created', id)),
      deliver(stripe.event('charge.dispute.funds_withdrawn', id)),
    ]);
    expect(await owner.balance()).toBe(-4_000_000);
    expect((await billing.call('GET', path, { token: owner.token })).body.enabled).toBe(false);
    await billing.topUpWallets();
    expect(stripe.calls.filter(({ method, path }) => method === 'POST' && path === '/v1/payment_intents')).toEqual([]);
    const late = stripe.event('charge.dispute.created', id);
    stripe.update(id, { status: 'won' });
    await deliver(stripe.event('charge.dispute.closed', id));
    await deliver(stripe.event('charge.dispute.funds_reinstated', id));
    await deliver(late);
    expect(await owner.balance()).toBe(6_000_000);
    expect((await owner.transactions()).filter(([type]: string[]) => type === 'adjustment')).toEqual([
      ['adjustment', 10_000_000, 'Dispute closed, the payment is back'],
      ['adjustment', -10_000_000, 'Disputed payment, taken back by the bank'],
    ]);
  });

  test('takes nothing while it is only an inquiry', async () => {
    const owner = await topUp();
    await confirm(owner.token, owner.sessionId);
    await deliver(stripe.event('charge.dispute.created', dispute(owner, 'warning_needs_response')));
    expect(await owner.balance()).toBe(10_000_000);
  });

  test('of a payment that is no top-up of this deployment is ignored', async () => {
    const id = stripe.add('dispute', { payment_intent: 'pi_of_another', amount: 5, currency: 'eur', status: 'lost' });
    expect((await deliver(stripe.event('charge.dispute.created', id))).status).toBe(200);
  });
});

const spend = async (userId: string, hold_micros: number) => {
  const { ask, settle } = gatewayAccounts(billing);
  const asked = await ask({ userId, keyId: newId('key') }, { hold_micros });
  expect(asked.body.verdict).toBe('granted');
  return { requestId: asked.requestId, settle };
};
