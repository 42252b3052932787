import { newId } from '@svc/contracts';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { insertCustomer } from '../src/payments/stripe/customers.ts';
import { loadPlans, openPlanOffer } from '../src/plans.ts';
import { RETURNS } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { signIn, checkout, confirm, current, stripeSessionOf, pay, deliver, subscribe, factsOf } = people;
afterAll(stop);
beforeEach(reset);
afterEach(async () => expect(await checkBalances(billing.db)).toEqual([]));

const updated = (id: string) => stripe.event('customer.subscription.updated', id);
const waitingFor = (item: string) => billing.db('deferred_items').where({ work: 'subscriptions', item }).first();
const liveAtStripe = (userId: string) =>
  stripe
    .list('subscription')
    .filter(({ metadata, status }) => Object(metadata)['svc_user_id'] === userId && status !== 'canceled');

describe('bursts of events', () => {
  test('publish each applied state once, with gapless revisions, when duplicated, reordered and dropped', async () => {
    const status = fc.constantFrom('active', 'past_due', 'unpaid', 'paused', 'trialing');
    const burst = fc.array(
      fc.record({ status, deliveries: fc.array(fc.nat(5), { maxLength: 4 }), together: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 8,
      },
    );
    await fc.assert(
      fc.asyncProperty(burst, async (steps) => {
        const { userId, token, stripeId } = await subscribe();
        const sent = [updated(stripeId)];
        for (const step of steps) {
          stripe.update(stripeId, { status: step.status, ended_at: step.status === 'unpaid' ? 1_790_000_000 : null });
          sent.push(updated(stripeId));
          // Old and new events, some twice, some never, sequentially or concurrently.
          const chosen = step.deliveries.map((back) => sent.at(-1 - back) ?? updated(stripeId));
          if (step.together) await Promise.all(chosen.map((event) => deliver(event)));
          else for (const event of chosen) await deliver(event);
        }
        await deliver(updated(stripeId));
        const facts = await factsOf(userId);
        const states = facts.map((fact) => fact.status);
        expect(states.filter((state, index) => index > 0 && state === states[index - 1])).toEqual([]);
        expect(facts.map(({ revision }) => revision)).toEqual(facts.map((_, index) => index + 1));
        expect(states.at(-1)).toBe(stripe.object(stripeId)['status']);
        expect(await current(token)).toMatchObject({ status: states.at(-1), revision: facts.length });
      }),
      { numRuns: 15 },
    );
  }, 120_000);

  test('create a subscription that billing does not know yet, even before the event of its checkout', async () => {
    const { token, userId } = await signIn();
    const id = (await checkout(token)).body.session_id;
    const stripeId = String(pay(id)['subscription']);
    await Promise.all([
      deliver(stripe.event('customer.subscription.created', stripeId)),
      deliver(stripe.event('invoice.paid', String(stripe.object(stripeId)['latest_invoice']))),
      deliver(stripe.event('checkout.session.completed', stripeSessionOf(id))),
      confirm(token, id),
    ]);
    expect((await confirm(token, id)).body.subscription).toMatchObject({ status: 'active', revision: 1 });
    expect(await factsOf(userId)).toHaveLength(1);
  });
});

describe('a double checkout', () => {
  test('never leaves two live subscriptions, in any order of payments and events', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { token, userId } = await signIn();
      const ids = (await Promise.all([checkout(token), checkout(token, 'full'), checkout(token)])).map(
        ({ body }) => body.session_id,
      );
      const made = ids.map((id) => String(pay(id)['subscription']));
      await Promise.all([
        ...ids.map((id) => confirm(token, id)),
        ...ids.map((id) => deliver(stripe.event('checkout.session.completed', stripeSessionOf(id)))),
        ...made.map((id) => deliver(stripe.event('customer.subscription.created', id))),
      ]);
      expect(liveAtStripe(userId)).toHaveLength(1);
      expect(await billing.db('subscriptions').where({ svc_user_id: userId, status: 'active' })).toHaveLength(1);
      const answers = await Promise.all(ids.map((id) => confirm(token, id)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    }
  });

  test('stores one Stripe customer for an account that buys for the first time', async () => {
    for (let round = 0; round < 200; round += 1) {
      const userId = newId('usr');
      const customerId = `cus_${round}`;
      const stored = await Promise.all([1, 2, 3, 4].map(() => insertCustomer(billing.db, userId, customerId)));
      expect(new Set(stored)).toEqual(new Set([customerId]));
    }
  }, 30_000);

  test('is reverted by the next confirmation if the first revert fails, and refunded once', async () => {
    const { token, userId } = await signIn();
    const one = (await checkout(token)).body.session_id;
    const two = (await checkout(token)).body.session_id;
    pay(one);
    const lost = String(pay(two)['subscription']);
    await confirm(token, one);
    const refunds = stripe.list('refund').length;
    stripe.misbehavior.afterRead = async (path) => {
      if (path.includes(lost)) stripe.misbehavior.faults.push(500, 500, 500);
    };
    expect((await confirm(token, two)).status).toBe(503);
    reset();
    expect(liveAtStripe(userId)).toHaveLength(2);
    expect((await confirm(token, two)).body.detail.code).toBe('subscription_already_active');
    expect(liveAtStripe(userId)).toHaveLength(1);
    expect(stripe.list('refund')).toHaveLength(refunds + 1);
  }, 30_000);
});

describe('the sweep', () => {
  test('reads every page of undelivered events, and handles each event once', async () => {
    const { token, stripeId } = await subscribe();
    stripe.update(stripeId, { status: 'past_due' });
    const noise = Array.from({ length: 230 }, () => stripe.event('customer.subscription.trial_will_end', stripeId));
    stripe.undelivered = [...noise, updated(stripeId)];
    await billing.tick();
    expect(await current(token)).toMatchObject({ status: 'past_due' });
    const pages = stripe.calls.filter(({ path }) => path === '/v1/events');
    expect(pages).toHaveLength(3);
    expect(pages[0]?.params).toMatchObject({ delivery_success: 'false', limit: '100' });
    stripe.calls.length = 0;
    await billing.tick();
    expect(stripe.calls.filter(({ path }) => path.startsWith('/v1/subscriptions'))).toEqual([]);
  }, 30_000);
});

describe('Stripe prices and products', () => {
  test('identify the plan by a former price, and by product if the price was created at Stripe', async () => {
    const { token, stripeId } = await subscribe();
    const plans = loadPlans(billing.config.PLANS_FILE, { currency: 'EUR', needsStripePrice: true });
    await openPlanOffer(
      billing.db,
      plans.map((plan) => (plan.id === 'basic' ? { ...plan, stripe_price_id: 'price_of_basic_raised' } : plan)),
    );
    stripe.update(stripeId, { status: 'past_due' });
    expect((await deliver(updated(stripeId))).status).toBe(200);
    expect(await current(token)).toMatchObject({ plan: { id: 'basic' }, status: 'past_due' });
    const items = JSON.parse(JSON.stringify(stripe.object(stripeId)['items']));
    items.data[0].price.id = 'price_made_in_the_dashboard';
    stripe.update(stripeId, { items, status: 'active' });
    expect((await deliver(updated(stripeId))).status).toBe(200);
    expect(await current(token)).toMatchObject({ plan: { id: 'basic' }, status: 'active' });
    items.data[0].price.product = 'prod_unknown';
    stripe.update(stripeId, { items });
    expect((await deliver(updated(stripeId))).status).toBe(200);
    expect(await waitingFor(stripeId)).toMatchObject({ reason: 'price', attempts: 1 });
    await openPlanOffer(billing.db, plans);
  });
  test.each(['past_due', 'unpaid', 'paused', 'canceled'] as const)(
    'keep the previous plan if they are unknown and the status is %s',
    async (status) => {
      const { token, stripeId } = await subscribe();
      const items = JSON.parse(JSON.stringify(stripe.object(stripeId)['items']));
      Object.assign(items.data[0].price, { id: 'price_unknown', product: 'prod_unknown' });
      stripe.update(stripeId, { items });
      expect((await deliver(updated(stripeId))).status).toBe(200);
      expect(await waitingFor(stripeId)).toMatchObject({ reason: 'price' });
      stripe.update(stripeId, { status });
      expect((await deliver(updated(stripeId))).status).toBe(200);
      expect(await current(token)).toMatchObject({ plan: { id: 'basic' }, status });
    },
  );
  test('identify no plan if one product is sold as several plans', async () => {
    const one = await subscribe('basic');
    const two = await subscribe('full');
    for (const { stripeId } of [one, two]) {
      const items = JSON.parse(JSON.stringify(stripe.object(stripeId)['items']));
      items.data[0].price.product = 'prod_of_both';
      stripe.update(stripeId, { items });
      await deliver(updated(stripeId));
    }
    expect(await billing.db('stripe_catalog').where({ stripe_id: 'prod_of_both' })).toEqual([
      { stripe_id: 'prod_of_both', plan_id: null },
    ]);
    expect(await current(two.token)).toMatchObject({ plan: { id: 'full' } });
  });
});

describe('a refund of a top-up', () => {
  const fund = async () => {
    const owner = await signIn();
    const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', {
      token: owner.token,
      json: { amount_micros: 10_000_000, ...RETURNS },
    });
    pay(body.session_id);
    await confirm(owner.token, body.session_id);
    const refund = (refund_id: string, amount_micros: number) =>
      billing.internal('POST', `/internal/accounts/${owner.userId}/wallet/refunds`, {
        refund_id,
        amount_micros,
        session_id: body.session_id,
      });
    const balance = async () =>
      (await billing.call('GET', '/v1/gateway/wallet', { token: owner.token })).body.balance_micros;
    const paidBack = () =>
      stripe
        .list('refund')
        .filter(
          ({ payment_intent }) => payment_intent === stripe.object(stripeSessionOf(body.session_id))['payment_intent'],
        );
    return { ...owner, refund, balance, paidBack };
  };
  test('is refunded by Stripe once per id, in minor units', async () => {
    const { refund, balance, paidBack } = await fund();
    const id = newId('req');
    const answers = await Promise.all([refund(id, 2_500_000), refund(id, 2_500_000), refund(id, 2_500_000)]);
    for (const { body } of answers) {
      expect(body).toEqual({ refund_id: id, state: 'refunded', amount_micros: 2_500_000, currency: 'EUR' });
    }
    expect(await balance()).toBe(7_500_000);
    expect(paidBack()).toMatchObject([{ amount: 250, metadata: { svc_refund_id: id } }]);
  });
  test('stays pending while Stripe is down, is retried by the periodic work, and is refunded once', async () => {
    const { refund, balance, paidBack } = await fund();
    const id = newId('req');
    stripe.misbehavior.faults.push(500, 500, 500);
    expect((await refund(id, 1_000_000)).body.detail.code).toBe('payment_provider_unavailable');
    expect(await balance()).toBe(9_000_000);
    await billing.tick();
    expect((await refund(id, 1_000_000)).body.state).toBe('refunded');
    // Simulates a lost answer after the expiry of the idempotency key.
    await billing.db('wallet_refunds').where({ id }).update({ state: 'pending', ended_at: null });
    stripe.forgetKeys();
    await billing.tick();
    expect(paidBack()).toHaveLength(1);
    expect(await balance()).toBe(9_000_000);
  }, 30_000);
  test('is credited back if Stripe refuses it', async () => {
    const { refund, balance, paidBack } = await fund();
    stripe.misbehavior.refuseRefunds = true;
    expect((await refund('dispute-1', 4_000_000)).body.state).toBe('refused');
    expect((await refund('dispute-1', 4_000_000)).body.state).toBe('refused');
    expect(await balance()).toBe(10_000_000);
    expect(paidBack()).toEqual([]);
  });
});

describe('every write to Stripe', () => {
  test('carries an idempotency key, including the portal', async () => {
    const { token } = await subscribe();
    await billing.call('POST', '/v1/subscriptions/portal', { token, json: { return_url: 'https://shop.example/' } });
    const writes = stripe.calls.filter(({ method }) => method !== 'GET');
    expect(writes.map(({ path }) => path)).toContain('/v1/billing_portal/sessions');
    expect(writes.filter(({ idempotencyKey }) => idempotencyKey === undefined)).toEqual([]);
  });
});
