import { newId, restoreOperations } from '@svc/contracts';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { RETURNS } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, signIn, confirm, pay, deliver } = await stripeBilling();
afterAll(stop);
beforeEach(reset);
afterEach(async () => {
  await billing.setClock(null);
  await billing.db('auto_top_ups').update({ is_enabled: false });
  expect(await checkBalances(billing.db)).toEqual([]);
});

const PATH = '/v1/gateway/wallet/auto-top-up';
const SETTINGS = { enabled: true, below_micros: 5_000_000, amount_micros: 10_000_000, monthly_max_micros: 10_000_000 };

/** Creates an account with 1 EUR, a saved card and automatic top-ups. */
const openAccount = async () => {
  const { userId, token } = await signIn();
  const json = { amount_micros: 1_000_000, ...RETURNS };
  const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
  pay(body.session_id);
  await confirm(token, body.session_id);
  expect((await billing.call('PUT', PATH, { token, json: SETTINGS })).status).toBe(200);
  const { customer_id: customer } = await billing.db('stripe_customers').where({ svc_user_id: userId }).first();
  const payments = () =>
    stripe.list('payment_intent').filter(({ metadata }) => Object(metadata)['svc_user_id'] === userId);
  return {
    userId,
    token,
    customer: String(customer),
    payments,
    turnOff: () => billing.call('PUT', PATH, { token, json: { ...SETTINGS, enabled: false } }),
    balance: async () => (await billing.call('GET', '/v1/gateway/wallet', { token })).body.balance_micros,
    isEnabled: async () => (await billing.call('GET', PATH, { token })).body.enabled,
    charges: () => billing.db('checkout_sessions').where({ svc_user_id: userId, is_automatic: true }),
    failures: () =>
      billing
        .db('outbox')
        .where({ subject: 'billing.auto_top_up.failed.v1' })
        .whereRaw("payload->>'svc_user_id' = ?", [userId])
        .pluck('payload'),
  };
};
const run = () => billing.topUpWallets();
const later = (seconds: number) => billing.setClock(new Date(Date.now() + seconds * 1000));
/** Leaves an open charge of which Stripe knows nothing. */
const interrupted = async () => {
  const owner = await openAccount();
  const id = newId('cs');
  await billing.db('checkout_sessions').insert({
    id,
    svc_user_id: owner.userId,
    kind: 'top_up',
    amount_micros: SETTINGS.amount_micros,
    asked_micros: SETTINGS.amount_micros,
    asked_currency: 'EUR',
    is_automatic: true,
    created_at: new Date(),
    expires_at: new Date(),
  });
  return { ...owner, id };
};

describe('an open charge that Stripe does not know', () => {
  test('is dropped after the owner has turned automatic top-ups off', async () => {
    const owner = await interrupted();
    await owner.turnOff();
    await later(20);
    await run();
    await later(3600);
    await run();
    expect([owner.payments(), await owner.balance()]).toEqual([[], 1_000_000]);
    expect(await owner.charges()).toMatchObject([{ status: 'expired' }]);
  });

  test('is dropped after the account has asked for its deletion', async () => {
    const owner = await interrupted();
    // The consumer of deletions does this in the transaction that stores the ending.
    await billing.db('auto_top_ups').where({ svc_user_id: owner.userId }).update({ is_enabled: false });
    await later(20);
    await run();
    expect(owner.payments()).toEqual([]);
    expect(await owner.charges()).toMatchObject([{ status: 'expired' }]);
  });

  test('is dropped after a minute, and a new charge follows while the owner wants one', async () => {
    const owner = await interrupted();
    await later(30);
    await run();
    expect(owner.payments()).toEqual([]);
    await later(90);
    await run();
    expect(owner.payments()).toHaveLength(1);
    expect(owner.payments()[0]?.['metadata']).not.toMatchObject({ svc_charge_id: owner.id });
    expect(await owner.balance()).toBe(11_000_000);
    expect((await owner.charges()).map(({ status }) => status).sort()).toEqual(['complete', 'expired']);
  });
});

test('credits a payment that Stripe made although its charge was dropped, from its event', async () => {
  const owner = await interrupted();
  await owner.turnOff();
  await later(20);
  await run();
  await billing.setClock(null);
  const metadata = { svc_user_id: owner.userId, svc_charge_id: owner.id };
  const paid = { status: 'succeeded', amount: 1_000, amount_received: 1_000, currency: 'eur', metadata };
  const created = Math.floor(Date.now() / 1000);
  const id = stripe.add('payment_intent', { ...paid, customer: owner.customer, created });
  for (let time = 0; time < 2; time += 1) await deliver(stripe.event('payment_intent.succeeded', id));
  expect(await owner.balance()).toBe(11_000_000);
});

test('credits a payment of a customer whom another has replaced, from its event', async () => {
  const owner = await interrupted();
  const metadata = { svc_user_id: owner.userId, svc_charge_id: owner.id };
  const paid = { status: 'succeeded', amount: 1_000, amount_received: 1_000, currency: 'eur', metadata };
  const created = Math.floor(Date.now() / 1000);
  const id = stripe.add('payment_intent', { ...paid, customer: owner.customer, created });
  stripe.deleteCustomer(owner.customer);
  const portal = { token: owner.token, json: { return_url: RETURNS.success_url } };
  expect((await billing.call('POST', '/v1/subscriptions/portal', portal)).status).toBe(200);
  for (let time = 0; time < 2; time += 1) await deliver(stripe.event('payment_intent.succeeded', id));
  expect(await owner.balance()).toBe(11_000_000);
  await billing.tick();
  expect(await owner.charges()).toMatchObject([{ status: 'complete', provider_session_id: id }]);
  // No customer is left whose invoice it is.
  const { customer_id } = await billing.db('stripe_customers').where({ svc_user_id: owner.userId }).first();
  expect(customer_id).not.toBe(owner.customer);
  expect(stripe.list('invoice').filter(({ customer }) => customer === customer_id)).toEqual([]);
  expect(await owner.charges()).toMatchObject([{ invoiced_at: expect.any(Date) }]);
});

describe('a charge that Stripe refuses', () => {
  test.each([
    ['a default that is no card', 'sepa_debit', 'payment_method_missing'],
    ['a request that is invalid', null, 'declined'],
  ])('fails once, turns itself off and tells the owner: %s', async (_cause, type, reason) => {
    const owner = await openAccount();
    const other = await openAccount();
    if (type === null) {
      stripe.misbehavior.refuse = (method, path, params) =>
        method === 'POST' && path === '/v1/payment_intents' && params['customer'] === owner.customer
          ? 'parameter_invalid'
          : undefined;
    } else {
      const method = stripe.add('payment_method', { type, customer: owner.customer });
      stripe.update(owner.customer, { invoice_settings: { default_payment_method: method } });
    }
    for (let time = 0; time < 3; time += 1) await run();
    expect([await owner.isEnabled(), owner.payments(), await owner.balance()]).toEqual([false, [], 1_000_000]);
    expect(await owner.failures()).toMatchObject([{ reason, amount_micros: 10_000_000 }]);
    expect(await other.balance()).toBe(11_000_000);
  });

  test('because the customer is gone at Stripe fails too', async () => {
    const owner = await openAccount();
    stripe.deleteCustomer(owner.customer);
    await run();
    expect([await owner.isEnabled(), (await owner.failures()).map(({ reason }) => reason)]).toEqual([
      false,
      ['payment_method_missing'],
    ]);
  });

  test('uses the default card, and the card saved last without a default', async () => {
    const owner = await openAccount();
    const preferred = stripe.add('payment_method', { type: 'card', customer: owner.customer });
    stripe.add('payment_method', { type: 'card', customer: owner.customer });
    stripe.update(owner.customer, { invoice_settings: { default_payment_method: { id: preferred } } });
    await run();
    expect(owner.payments()).toMatchObject([{ payment_method: preferred }]);
  });
});

test('an account whose charge cannot be made waits longer each time, and others are charged', async () => {
  const owner = await openAccount();
  const other = await openAccount();
  const attempts = () => stripe.calls.filter(({ params }) => params['customer'] === owner.customer).length;
  breakFor(owner.customer);
  await run();
  const first = attempts();
  for (let time = 0; time < 5; time += 1) await run();
  expect(attempts()).toBe(first);
  expect(await other.balance()).toBe(11_000_000);
  const place = { work: 'automatic_top_ups', item: owner.userId };
  expect(await billing.db('deferred_items').where(place).first()).toMatchObject({
    attempts: 1,
    reason: 'payment_provider_unavailable',
  });
}, 30_000);

/** Answers every list of a customer's payments with 500. */
const breakFor = (customer: string): void => {
  stripe.misbehavior.refuse = (method, path, params) =>
    method === 'GET' && path === '/v1/payment_intents' && params['customer'] === customer ? 'outage' : undefined;
};

describe('a restored database', () => {
  /** Takes the automatic charge out of the database, as a restore to a moment before it does. */
  const forgetCharge = async (userId: string): Promise<void> => {
    const { id } = await billing.db('checkout_sessions').where({ svc_user_id: userId, is_automatic: true }).first();
    await billing.db.raw(`SET session_replication_role = replica;
      DELETE FROM ledger_postings WHERE reference = 'auto_top_up:${id}';
      SET session_replication_role = DEFAULT;
      UPDATE wallets SET balance_micros = 1000000 WHERE svc_user_id = '${userId}'`);
    await billing.db('checkout_sessions').where({ id }).delete();
  };

  test('credits the charge that it has forgotten instead of making it again', async () => {
    const owner = await openAccount();
    await run();
    await forgetCharge(owner.userId);
    await Promise.all([run(), run()]);
    await run();
    expect([owner.payments().length, await owner.balance()]).toEqual([1, 11_000_000]);
  });

  test('counts the forgotten charge against the ceiling of the month', async () => {
    const owner = await openAccount();
    await run();
    await forgetCharge(owner.userId);
    await billing.db('auto_top_ups').where({ svc_user_id: owner.userId }).update({ below_micros: 20_000_000 });
    await run();
    await run();
    expect([owner.payments().length, await owner.balance()]).toEqual([1, 11_000_000]);
  });

  test('takes what was refunded since with the forgotten charge', async () => {
    const owner = await openAccount();
    await run();
    const [payment] = owner.payments();
    await forgetCharge(owner.userId);
    const refund = { amount: 400, currency: 'eur', status: 'succeeded', metadata: {} };
    stripe.add('refund', { ...refund, payment_intent: payment?.['id'] });
    await run();
    expect(await owner.balance()).toBe(7_000_000);
  });

  test('charges nothing between the beginning and the end of after-restore', async () => {
    const owner = await openAccount();
    const restored_to = '2026-11-05T00:00:00Z';
    const afterRestore = () => billing.internal('POST', restoreOperations.billing.path, { restored_to });
    stripe.misbehavior.refuse = (_method, path) => (path === '/v1/events' ? 'outage' : undefined);
    expect((await afterRestore()).status).toBe(503);
    await run();
    expect(owner.payments()).toEqual([]);
    reset();
    expect((await afterRestore()).status).toBe(200);
    await run();
    expect(owner.payments()).toHaveLength(1);
  }, 30_000);
});
