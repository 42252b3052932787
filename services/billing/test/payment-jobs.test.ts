import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { RETURNS } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { signIn, confirm, current, pay, subscribe, stripeSessionOf } = people;
afterAll(stop);
beforeEach(reset);

const HOUR_MS = 3_600_000;
const clockIn = (ms: number) => billing.setClock(new Date(Date.now() + ms));
const want = (userId: string, wanted: string) =>
  billing
    .db('account_endings')
    .insert({ svc_user_id: userId, wanted, is_applied: false, updated_at: new Date() })
    .onConflict('svc_user_id')
    .merge();
const topUp = async () => {
  const owner = await signIn();
  const json = { amount_micros: 10_000_000, ...RETURNS };
  const { session_id } = (await billing.call('POST', '/v1/gateway/wallet/top-ups', { token: owner.token, json })).body;
  return { ...owner, session_id };
};

test('a subscription that cannot be read holds up neither the endings nor the refunds of others', async () => {
  const odd = await subscribe();
  const silent = await subscribe();
  const leaving = await subscribe();
  const paid = await topUp();
  pay(paid.session_id);
  await confirm(paid.token, paid.session_id);
  stripe.misbehavior.faults.push(500, 500, 500);
  const refund = { refund_id: randomUUID(), session_id: paid.session_id, amount_micros: 1_000_000 };
  expect((await billing.internal('POST', `/internal/accounts/${paid.userId}/wallet/refunds`, refund)).status).toBe(503);
  stripe.update(odd.stripeId, { status: 'hibernating' });
  stripe.update(silent.stripeId, { status: 'past_due' });
  await want(leaving.userId, 'cancel');
  const { current_period_end: end } = Object(stripe.object(odd.stripeId)['items']).data[0];
  await billing.setClock(new Date(end * 1000 + 2 * HOUR_MS));
  await billing.tick();
  expect(await current(silent.token)).toMatchObject({ status: 'past_due' });
  expect(stripe.object(leaving.stripeId)).toMatchObject({ cancel_at_period_end: true });
  expect(await billing.db('wallet_refunds').where({ id: refund.refund_id }).first()).toMatchObject({
    state: 'refunded',
  });
  await billing.setClock(null);
}, 30_000);

test('an item that fails waits longer each time, and is counted for the alert', async () => {
  const { userId, stripeId } = await subscribe();
  const place = { work: 'account_endings', item: userId };
  stripe.misbehavior.refuse = (method, path) => (method === 'POST' && path.endsWith(stripeId) ? 'not_now' : undefined);
  await want(userId, 'cancel');
  const delays: number[] = [];
  let ms = 0;
  for (let time = 0; time < 3; time += 1) {
    await clockIn(ms);
    await billing.tick();
    const { attempts, due_at } = await billing.db('deferred_items').where(place).first();
    expect(attempts).toBe(time + 1);
    delays.push(Math.round((due_at.getTime() - Date.now() - ms) / 10_000));
    await billing.tick();
    expect((await billing.db('deferred_items').where(place).first()).attempts).toBe(time + 1);
    ms += 60_000 * 2 ** (time + 1);
  }
  expect(delays).toEqual([3, 6, 12]);
  await billing.tick();
  const metrics = await (await fetch(`${billing.internalUrl}/metrics`)).text();
  expect(metrics).toMatch(/billing_deferred_items\{[^}]*work="account_endings"[^}]*\} 1/);
  expect(metrics).toMatch(/billing_work_failures_total\{[^}]*reason="refused"[^}]*\} 3/);
  stripe.misbehavior.refuse = () => undefined;
  await clockIn(ms);
  await billing.tick();
  expect(await billing.db('deferred_items').where(place)).toEqual([]);
  expect(stripe.object(stripeId)).toMatchObject({ cancel_at_period_end: true });
  await billing.setClock(null);
}, 30_000);

test('fifty items that always fail do not keep a younger one waiting', async () => {
  const odd = Array.from({ length: 60 }, (_, index) => `usr_odd_${index}`);
  const rows = odd.map((svc_user_id, index) => ({ svc_user_id, customer_id: `cus_odd_${index}` }));
  await billing.db('stripe_customers').insert(rows);
  for (const userId of odd) await want(userId, 'erase');
  stripe.misbehavior.refuse = (method, path) =>
    method === 'DELETE' && path.includes('cus_odd') ? 'not_now' : undefined;
  const young = await subscribe();
  await want(young.userId, 'cancel');
  await billing.tick();
  await billing.tick();
  expect(stripe.object(young.stripeId)).toMatchObject({ cancel_at_period_end: true });
  await billing.db('account_endings').whereIn('svc_user_id', odd).delete();
});

test('a checkout whose event never came is settled or expires after its time', async () => {
  const paid = await topUp();
  const left = await topUp();
  const gone = await topUp();
  pay(paid.session_id);
  stripe.update(stripeSessionOf(left.session_id), { status: 'expired' });
  stripe.forget(stripeSessionOf(gone.session_id));
  await clockIn(26 * HOUR_MS);
  await billing.tick();
  const statuses = await Promise.all(
    [paid, left, gone].map(({ session_id }) =>
      billing.db('checkout_sessions').where({ id: session_id }).first('status'),
    ),
  );
  expect(statuses.map(({ status }) => status)).toEqual(['complete', 'expired', 'expired']);
  await billing.setClock(null);
});

test('a checkout whose payment takes days waits for it, and expires once that has failed', async () => {
  const owner = await topUp();
  const stripeId = stripeSessionOf(owner.session_id);
  const payment_intent = stripe.add('payment_intent', { status: 'processing', amount: 1_000, currency: 'eur' });
  stripe.update(stripeId, { status: 'complete', payment_status: 'unpaid', payment_intent });
  const status = async () => (await billing.db('checkout_sessions').where({ id: owner.session_id }).first()).status;
  await clockIn(72 * HOUR_MS);
  await billing.tick();
  expect(await status()).toBe('open');
  stripe.update(payment_intent, { status: 'requires_payment_method' });
  await billing.tick();
  expect(await status()).toBe('expired');
  await billing.setClock(null);
});

test('an event that fails in the sweep is tried again by itself, and the others are handled', async () => {
  const one = await subscribe();
  const two = await subscribe();
  stripe.update(one.stripeId, { status: 'past_due' });
  stripe.update(two.stripeId, { status: 'past_due' });
  const updated = (id: string) => stripe.event('customer.subscription.updated', id);
  stripe.undelivered = [updated(two.stripeId), updated(one.stripeId)];
  stripe.misbehavior.refuse = (_method, path) => (path.endsWith(one.stripeId) ? 'odd' : undefined);
  await billing.tick();
  expect(await current(two.token)).toMatchObject({ status: 'past_due' });
  expect(await current(one.token)).toMatchObject({ status: 'active' });
  stripe.misbehavior.refuse = () => undefined;
  await clockIn(60_000);
  await billing.tick();
  expect(await current(one.token)).toMatchObject({ status: 'past_due' });
  await billing.setClock(null);
});

test('the provider is measured by outcome, last answer and last event', async () => {
  const { stripeId } = await subscribe();
  await people.deliver(stripe.event('customer.subscription.updated', stripeId));
  stripe.misbehavior.faults.push('reset', 500, 429);
  await signIn().then(({ token }) => people.checkout(token));
  const metrics = await (await fetch(`${billing.internalUrl}/metrics`)).text();
  for (const outcome of ['ok', 'failed', 'overloaded', 'unreachable']) {
    expect(metrics).toMatch(new RegExp(`billing_provider_requests_total\\{[^}]*outcome="${outcome}"[^}]*\\} [1-9]`));
  }
  for (const name of ['last_success', 'last_event']) {
    expect(metrics).toMatch(new RegExp(`billing_provider_${name}_seconds\\{[^}]*\\} 1\\.?\\d*e?\\+?\\d*`));
  }
  expect(metrics).toMatch(/billing_provider_events_total\{[^}]*source="delivered"[^}]*\} [1-9]/);
}, 30_000);
