import { randomUUID } from 'node:crypto';
import { internalRoutes, newId, restoreOperations } from '@svc/contracts';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { RETURNS } from './support/billing.ts';
import { organizations } from './support/organizations.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { signIn, checkout, confirm, current, deliver, pay, subscribe, factsOf } = people;
afterAll(stop);
beforeEach(reset);

const afterRestore = async (restored_to: string) => {
  const { status, body } = await billing.internal('POST', restoreOperations.billing.path, { restored_to });
  expect(status).toBe(200);
  return body;
};

/** A UUID of version 7, as of now. */
const newEpoch = (): string => {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
};

/** Resets an account to the state before its first purchase, as a restore of the database does. */
const forget = async (userId: string): Promise<void> => {
  await billing.db('customers').where({ svc_user_id: userId }).update({ current_subscription_id: null });
  for (const table of ['checkout_sessions', 'subscriptions', 'stripe_customers', 'customers']) {
    await billing.db(table).where({ svc_user_id: userId }).delete();
  }
};

test('imports a subscription bought after the restored moment from Stripe, so that it cannot be bought twice', async () => {
  const owner = await subscribe('full');
  await forget(owner.userId);
  expect(await current(owner.token)).toBeNull();
  const { reconciled } = await afterRestore('2026-11-01T00:00:00Z');
  expect(reconciled).toBeGreaterThan(0);
  expect(await current(owner.token)).toMatchObject({ status: 'active', plan: { id: 'full' } });
  expect((await checkout(owner.token)).body.detail.code).toBe('subscription_already_active');
  expect(stripe.object(owner.stripeId)['status']).toBe('active');
});

test('imports seats bought after the restored moment from Stripe, and the end of seats that were paid then', async () => {
  const seats = organizations(billing);
  const buyer = await seats.found();
  await seats.buy(buyer, 2);
  const former = await seats.found();
  const { session_id } = (await seats.change(former, 1)).body;
  await seats.pay(session_id);
  await seats.confirm(former, session_id);
  const member = billing.auth.join(former.userId).svc_user_id;
  await seats.assign(former, member);
  stripe.changeSubscription(String(seats.paidBy(former.userId)[0]?.id), {
    status: 'canceled',
    ended_at: 1_793_000_000,
  });
  await forget(buyer.userId);
  await afterRestore('2026-11-01T00:00:00Z');
  expect((await seats.list(buyer)).body.data).toEqual([{ plan_id: 'basic', quantity: 2, assigned: 0 }]);
  expect((await seats.list(former)).body.data).toEqual([]);
  expect(await seats.statusOf(member)).toBe('canceled');
});

test('credits a top-up paid after the restored moment once, even if the command is repeated', async () => {
  const { userId, token } = await signIn();
  const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', {
    token,
    json: { amount_micros: 5_000_000, ...RETURNS },
  });
  pay(body.session_id);
  await forget(userId);
  await afterRestore('2026-11-02T00:00:00Z');
  await afterRestore('2026-11-02T00:00:00Z');
  expect((await confirm(token, body.session_id)).body.wallet.balance_micros).toBe(5_000_000);
});

test('settles a checkout that the restore has lost and that is paid after the command, once', async () => {
  const { userId, token } = await signIn();
  const json = { amount_micros: 5_000_000, ...RETURNS };
  const { session_id: topUp } = (await billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json })).body;
  const { session_id: purchase } = (await checkout(token, 'full')).body;
  await forget(userId);
  await afterRestore('2026-11-02T00:00:00Z');
  const paid = pay(topUp);
  const bought = pay(purchase);
  const subscriptionId = String(bought['subscription']);
  const events = [
    stripe.event('customer.subscription.created', subscriptionId),
    stripe.event('checkout.session.completed', String(bought['id'])),
    stripe.event('checkout.session.completed', String(paid['id'])),
  ];
  for (const event of [...events, ...events]) expect((await deliver(event)).status).toBe(200);
  expect((await confirm(token, topUp)).body.wallet.balance_micros).toBe(5_000_000);
  expect((await confirm(token, purchase)).body.subscription).toMatchObject({ status: 'active', plan: { id: 'full' } });
  expect(stripe.object(subscriptionId)['status']).toBe('active');
});

test('takes a refund back again whose event is older than the restored moment and was delivered after it', async () => {
  const { token } = await signIn();
  const json = { amount_micros: 5_000_000, ...RETURNS };
  const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
  const { payment_intent } = pay(body.session_id);
  await confirm(token, body.session_id);
  const refund = stripe.add('refund', {
    payment_intent,
    amount: 300,
    currency: 'eur',
    status: 'succeeded',
    metadata: {},
  });
  stripe.undelivered = [stripe.event('refund.created', refund)];
  await afterRestore(new Date(Date.now() + 2 * 24 * 3_600_000).toISOString());
  expect((await billing.call('GET', '/v1/gateway/wallet', { token })).body.balance_micros).toBe(2_000_000);
});

test('announces the current state once, in the new epoch and with a higher revision than receivers have seen', async () => {
  const owner = await subscribe();
  const [before] = await factsOf(owner.userId);
  const { epoch } = await afterRestore('2026-11-03T00:00:00Z');
  await afterRestore('2026-11-03T00:00:00Z');
  const facts = await billing
    .db('outbox')
    .where({ aggregate: `subscription:${owner.userId}` })
    .orderBy('seq');
  expect(facts).toHaveLength(2);
  expect(facts[1]).toMatchObject({ epoch, payload: { status: 'active' } });
  expect(facts[1].payload.revision).toBeGreaterThan(before.revision + 1000);
});

test('publishes a change that follows the restore with the revision of the new epoch, and announces it no second time', async () => {
  const owner = await subscribe();
  const [before] = await factsOf(owner.userId);
  await billing.db('epochs').insert({ epoch: newEpoch(), restored_to: '2026-11-04T00:00:00Z' });
  stripe.update(owner.stripeId, { cancel_at_period_end: true });
  await people.deliver(stripe.event('customer.subscription.updated', owner.stripeId));
  await afterRestore('2026-11-04T00:00:00Z');
  const facts = await factsOf(owner.userId);
  expect(facts.slice(1)).toMatchObject([{ cancel_at_period_end: true }]);
  expect(facts[1].revision).toBeGreaterThan(before.revision + 1000);
});

test('frees the places of requests whose outcomes the restore has lost, although their gateway is alive', async () => {
  const { userId } = await subscribe();
  const admit = (request_id: string) =>
    billing.decide({
      request_id,
      svc_user_id: userId,
      client_id: newId('app'),
      service: 'chat',
      estimate_micros: 1,
      holder_id: holder,
    });
  const holder = randomUUID();
  await billing.internal('PUT', internalRoutes.renewHolder.path.replace('{holder_id}', holder), { in_flight: [] });
  await admit(newId('req'));
  await admit(newId('req'));
  expect((await admit(newId('req'))).body.verdict).toBe('subscription_requests_pending');
  await afterRestore(new Date().toISOString());
  expect((await admit(newId('req'))).body.verdict).toBe('admitted');
});
