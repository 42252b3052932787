import { newId } from '@svc/contracts';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { RETURNS, type TestBilling, testBilling } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { signIn, checkout, confirm, current, stripeSessionOf, pay, deliver, factsOf } = people;
afterAll(stop);
beforeEach(reset);
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const AMOUNT_MICROS = 12_340_000;
const DIFFERENCES: [string, Record<string, unknown>][] = [
  ['a smaller amount', { amount_total: 1 }],
  ['a larger amount', { amount_total: 999_999 }],
  ['another currency', { currency: 'usd' }],
  ['zero, because of a coupon', { amount_total: 0, payment_status: 'no_payment_required' }],
  ['a missing amount', { amount_total: null, currency: null }],
];

const startTopUp = async (token: string): Promise<string> => {
  const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', {
    token,
    json: { amount_micros: AMOUNT_MICROS, ...RETURNS },
  });
  return body.session_id;
};
const payDifferently = (sessionId: string, difference: Record<string, unknown>) => {
  const paid = pay(sessionId);
  stripe.update(stripeSessionOf(sessionId), difference);
  return paid;
};
const completed = (sessionId: string) => stripe.event('checkout.session.completed', stripeSessionOf(sessionId));
const balance = async (token: string) =>
  (await billing.call('GET', '/v1/gateway/wallet', { token })).body.balance_micros;
const stored = (sessionId: string, { db }: TestBilling = billing) =>
  db('checkout_sessions').where({ id: sessionId }).first();
const readGauge = async ({ tick, internalUrl }: TestBilling = billing) => {
  await tick();
  const response = await fetch(`${internalUrl}/metrics`);
  return Number(/^billing_mismatched_payments\{[^}]*\} (\S+)$/m.exec(await response.text())?.[1]);
};

/** Stripe's report of a discount of 1.25 EUR, by a coupon alone or by a promotion code. */
const discounted = (total: number, promotion_code: string | null) => ({
  amount_total: total - 125,
  total_details: { amount_discount: 125, amount_shipping: 0, amount_tax: 0 },
  discounts: [{ coupon: 'coupon_1', promotion_code }],
});

describe('a promotion code', () => {
  test('activates the plan at its lower price', async () => {
    const { token } = await signIn();
    const id = (await checkout(token)).body.session_id;
    payDifferently(id, discounted(500, 'promo_1'));
    expect((await confirm(token, id)).body.subscription).toMatchObject({ status: 'active', plan: { id: 'basic' } });
    const made = stripe.calls.find(({ path }) => path === '/v1/checkout/sessions');
    expect(made?.params).toMatchObject({ allow_promotion_codes: 'true' });
  });

  test.each([
    ['a coupon without a code', discounted(500, null)],
    ['a discount that differs from the price', discounted(501, 'promo_1')],
  ])('is not met by %s', async (_case, difference) => {
    const { token } = await signIn();
    const id = (await checkout(token)).body.session_id;
    payDifferently(id, difference);
    expect((await confirm(token, id)).body.detail.code).toBe('checkout_not_completed');
    expect(await current(token)).toBeNull();
  });

  test('is not offered for a top-up, and credits nothing there', async () => {
    const { token } = await signIn();
    const id = await startTopUp(token);
    const made = stripe.calls.find(({ path }) => path === '/v1/checkout/sessions');
    expect(made?.params).not.toHaveProperty('allow_promotion_codes');
    payDifferently(id, discounted(1_234, 'promo_1'));
    expect((await confirm(token, id)).status).toBe(409);
    expect(await balance(token)).toBe(0);
  });
});

describe('a top-up whose payment differs from the price', () => {
  test.each(DIFFERENCES)('credits nothing: %s', async (_difference, changes) => {
    const { token, userId } = await signIn();
    const id = await startTopUp(token);
    payDifferently(id, changes);
    const before = await readGauge();
    for (const event of [completed(id), completed(id)]) expect((await deliver(event)).status).toBe(200);
    for (const answer of [await confirm(token, id), await confirm(token, id)]) {
      expect([answer.status, answer.body.detail.code]).toEqual([409, 'checkout_not_completed']);
      expect(answer.body.detail.message).toContain('differs from the price');
    }
    expect(await balance(token)).toBe(0);
    expect(await billing.db('outbox').where({ aggregate: `wallet:${userId}` })).toEqual([]);
    expect(await stored(id)).toMatchObject({
      status: 'mismatched',
      asked_micros: AMOUNT_MICROS,
      asked_currency: 'EUR',
    });
    expect(await readGauge()).toBe(before + 1);
  });

  test('stays without effect if the session later shows the right amount', async () => {
    const { token } = await signIn();
    const id = await startTopUp(token);
    payDifferently(id, { amount_total: 1 });
    await deliver(completed(id));
    stripe.update(stripeSessionOf(id), { amount_total: 1_234 });
    expect((await confirm(token, id)).status).toBe(409);
    expect(await balance(token)).toBe(0);
    expect(await stored(id)).toMatchObject({ paid_micros: 10_000, paid_currency: 'EUR' });
  });

  test('credits a correct payment once when confirmations and events race', async () => {
    const { token } = await signIn();
    const id = await startTopUp(token);
    pay(id);
    const events = Array.from({ length: 4 }, () => completed(id));
    await Promise.all([...events.map((event) => deliver(event)), confirm(token, id), confirm(token, id)]);
    expect(await balance(token)).toBe(AMOUNT_MICROS);
  });
});

describe('a subscription whose payment differs from the price', () => {
  test.each(DIFFERENCES)('is not activated by any event: %s', async (_difference, changes) => {
    const { token, userId } = await signIn();
    const id = (await checkout(token)).body.session_id;
    const stripeId = String(payDifferently(id, changes)['subscription']);
    const events = [
      stripe.event('customer.subscription.created', stripeId),
      stripe.event('invoice.paid', String(stripe.object(stripeId)['latest_invoice'])),
      completed(id),
      stripe.event('customer.subscription.updated', stripeId),
    ];
    for (const event of events) expect((await deliver(event)).status).toBe(200);
    expect((await confirm(token, id)).body.detail.code).toBe('checkout_not_completed');
    await billing.tick();
    expect(await current(token)).toBeNull();
    expect(await factsOf(userId)).toEqual([]);
    expect(await stored(id)).toMatchObject({
      status: 'mismatched',
      asked_micros: 5_000_000,
      asked_currency: 'EUR',
      mismatched_subscription_id: stripeId,
    });
  });

  test('is not activated if it names no checkout session', async () => {
    const { token } = await signIn();
    const id = (await checkout(token)).body.session_id;
    const stripeId = String(payDifferently(id, { amount_total: 1 })['subscription']);
    stripe.update(stripeId, { metadata: {} });
    await deliver(stripe.event('customer.subscription.created', stripeId));
    await deliver(stripe.event('customer.subscription.updated', stripeId));
    expect(await current(token)).toBeNull();
  });

  test('does not prevent the customer from buying again', async () => {
    const { token } = await signIn();
    const first = (await checkout(token)).body.session_id;
    payDifferently(first, { amount_total: 1 });
    expect((await confirm(token, first)).status).toBe(409);
    const second = (await checkout(token)).body.session_id;
    pay(second);
    expect((await confirm(token, second)).body.subscription).toMatchObject({ status: 'active' });
  });

  test('is not activated before its checkout is paid', async () => {
    const { token } = await signIn();
    const id = (await checkout(token)).body.session_id;
    const stripeId = String(payDifferently(id, { payment_status: 'unpaid' })['subscription']);
    await deliver(stripe.event('customer.subscription.created', stripeId));
    expect(await current(token)).toBeNull();
    stripe.update(stripeSessionOf(id), { payment_status: 'paid' });
    await deliver(stripe.event('checkout.session.async_payment_succeeded', stripeSessionOf(id)));
    expect(await current(token)).toMatchObject({ status: 'active', revision: 1 });
  });
});

test('applies a subscription created by an operator at Stripe despite an open checkout', async () => {
  const { token } = await signIn();
  const bought = (await checkout(token)).body.session_id;
  const other = await signIn();
  const template = (await checkout(other.token)).body.session_id;
  const stripeId = String(pay(template)['subscription']);
  const { customer } = stripe.object(stripeSessionOf(bought));
  stripe.update(stripeId, { metadata: {}, customer });
  await deliver(stripe.event('customer.subscription.created', stripeId));
  expect(await current(token)).toMatchObject({ status: 'active', plan: { id: 'basic' } });
});

test('credits nothing for a mismatch in the sandbox, and clears the alert after a day', async () => {
  const sandbox = await testBilling();
  try {
    const token = await sandbox.tokens.consoleSession({ userId: newId('usr') });
    const json = { amount_micros: AMOUNT_MICROS, ...RETURNS };
    const { body } = await sandbox.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
    await sandbox.db('checkout_sessions').where({ id: body.session_id }).update({ asked_micros: 5 });
    await sandbox.call('POST', `/sandbox/payments/sessions/${body.session_id}/complete`);
    expect(await stored(body.session_id, sandbox)).toMatchObject({ status: 'mismatched', paid_micros: AMOUNT_MICROS });
    expect((await sandbox.call('GET', '/v1/gateway/wallet', { token })).body.balance_micros).toBe(0);
    expect(await readGauge(sandbox)).toBe(1);
    await sandbox.setClock(new Date(Date.now() + 25 * 3_600_000));
    expect(await readGauge(sandbox)).toBe(0);
  } finally {
    await sandbox.stop();
  }
});
