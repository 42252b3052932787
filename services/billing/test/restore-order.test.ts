import { previewRestore, restoreOperations } from '@svc/contracts';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { RETURNS } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

const { stripe, billing, reset, stop, ...people } = await stripeBilling();
const { signIn, checkout, confirm, current, pay, subscribe, deliver } = people;
afterAll(stop);
beforeEach(reset);

let moment = 0;
/** A different moment for each restore, before the purchases of this file. */
const newMoment = (): string => {
  moment += 1;
  return new Date(Date.UTC(2026, 9, 1, 0, moment)).toISOString();
};
const afterRestore = async () => {
  const answer = await billing.internal('POST', restoreOperations.billing.path, { restored_to: newMoment() });
  expect(answer.status).toBe(200);
  return answer.body;
};
const preview = async () => {
  const answer = await billing.internal('POST', previewRestore.path, { restored_to: newMoment() });
  expect(answer.status).toBe(200);
  return answer.body;
};
const effectsOf = (effects: { svc_user_id: string; action: string; object: string }[], userId: string) =>
  effects.filter(({ svc_user_id }) => svc_user_id === userId);
const ended = { status: 'canceled', ended_at: 1_790_000_000 };
const forgetSession = (id: string) => billing.db('checkout_sessions').where({ id }).delete();

/** Plays: A is live at the restored moment; since then A has ended and B was bought. */
const boughtAgain = async () => {
  const owner = await subscribe();
  const stored = await billing.db('subscriptions').where({ provider_subscription_id: owner.stripeId }).first();
  stripe.update(owner.stripeId, ended);
  await deliver(stripe.event('customer.subscription.updated', owner.stripeId));
  const { session_id } = (await checkout(owner.token, 'full')).body;
  const second = String(pay(session_id)['subscription']);
  await confirm(owner.token, session_id);
  await forgetSession(session_id);
  await billing.db('customers').where({ svc_user_id: owner.userId }).update({ current_subscription_id: stored.id });
  await billing.db('subscriptions').where({ provider_subscription_id: second }).delete();
  await billing.db('subscriptions').where({ id: stored.id }).update({ status: 'active', ended_at: null });
  return { ...owner, second };
};

describe('after-restore', () => {
  test('keeps the subscription that was bought after the stored one had ended', async () => {
    const { token, userId, second } = await boughtAgain();
    await afterRestore();
    expect(await current(token)).toMatchObject({ status: 'active', plan: { id: 'full' } });
    expect(stripe.object(second)).toMatchObject({ status: 'active' });
    expect(stripe.list('refund')).toEqual([]);
    const live = await billing.db('subscriptions').where({ svc_user_id: userId, status: 'active' });
    expect(live).toMatchObject([{ provider_subscription_id: second }]);
  });

  test.each([
    ['its event', (second: string) => deliver(stripe.event('customer.subscription.created', second))],
    ['the confirmation', async (_second: string, token: string, id: string) => confirm(token, id)],
  ])('is not needed for that: %s asks for the stored one first', async (_by, act) => {
    const owner = await subscribe();
    const { session_id } = (await people.checkout((await signIn()).token)).body;
    await forgetSession(session_id);
    stripe.update(owner.stripeId, ended);
    // The row still says that the first one is live, as for an event that has not arrived.
    await billing
      .db('subscriptions')
      .where({ provider_subscription_id: owner.stripeId })
      .update({ status: 'past_due', past_due_since: new Date() });
    const asked = { asked_micros: 20_000_000, asked_currency: 'EUR' };
    const id = session_id;
    const row = { id, svc_user_id: owner.userId, kind: 'subscription', plan_id: 'full', ...asked };
    await billing.db('checkout_sessions').insert({ ...row, created_at: new Date(), expires_at: new Date() });
    const hosted = people.stripeSessionOf(id);
    const metadata = { svc_user_id: owner.userId, plan_id: 'full', svc_session_id: id };
    stripe.update(hosted, { price: 'price_of_full', amount_total: 2_000, subscription_metadata: metadata });
    await billing.db('checkout_sessions').where({ id }).update({ provider_session_id: hosted });
    const second = String(pay(id)['subscription']);
    await act(second, owner.token, id);
    expect(await current(owner.token)).toMatchObject({ status: 'active', plan: { id: 'full' } });
    expect(stripe.object(second)).toMatchObject({ status: 'active' });
    expect(stripe.list('refund')).toEqual([]);
  });

  test('does not refund a subscription that was bought and has ended since', async () => {
    const { token } = await signIn();
    const { session_id } = (await checkout(token)).body;
    const id = String(pay(session_id)['subscription']);
    stripe.update(id, ended);
    await afterRestore();
    await confirm(token, session_id);
    expect(stripe.list('refund')).toEqual([]);
    expect(await current(token)).toBeNull();
  });

  test('refunds the second of two purchases that are both live at Stripe', async () => {
    const owner = await subscribe();
    const other = await signIn();
    const { session_id } = (await checkout(other.token)).body;
    const metadata = { svc_user_id: owner.userId, plan_id: 'basic', svc_session_id: session_id };
    stripe.update(people.stripeSessionOf(session_id), { subscription_metadata: metadata });
    const second = String(pay(session_id)['subscription']);
    await billing.db('checkout_sessions').where({ id: session_id }).update({ svc_user_id: owner.userId });
    const { effects } = await preview();
    expect(effectsOf(effects, owner.userId)).toMatchObject([{ action: 'refund_and_cancel', object: second }]);
    expect(stripe.object(second)).toMatchObject({ status: 'active' });
    await afterRestore();
    expect(stripe.object(second)).toMatchObject({ status: 'canceled' });
    expect(stripe.object(owner.stripeId)).toMatchObject({ status: 'active' });
  });

  test('lists and counts what cannot be read, and takes over the rest', async () => {
    const odd = await subscribe();
    stripe.update(odd.stripeId, { status: 'hibernating' });
    const { token } = await signIn();
    const { session_id } = (await checkout(token)).body;
    pay(session_id);
    const { failed, reconciled } = await afterRestore();
    expect(failed).toContainEqual({ object: odd.stripeId, reason: 'status' });
    expect(reconciled).toBeGreaterThan(0);
    expect(await current(token)).toMatchObject({ status: 'active' });
  });
});

describe('the preview of after-restore', () => {
  const tables = ['checkout_sessions', 'subscriptions', 'customers', 'stripe_customers', 'wallets', 'ledger_postings'];
  const snapshot = async () =>
    Promise.all([...tables, 'outbox', 'epochs', 'finished_restores'].map((table) => billing.db(table).select()));

  test('lists credits and announcements, and changes nothing here or at Stripe', async () => {
    const { userId, token } = await signIn();
    const json = { amount_micros: 5_000_000, ...RETURNS };
    const { body } = await billing.call('POST', '/v1/gateway/wallet/top-ups', { token, json });
    const { payment_intent } = pay(body.session_id);
    stripe.add('refund', { payment_intent, amount: 100, currency: 'eur', status: 'succeeded', metadata: {} });
    await forgetSession(body.session_id);
    const buyer = await signIn();
    const { session_id } = (await checkout(buyer.token, 'full')).body;
    pay(session_id);
    const before = await snapshot();
    stripe.calls.length = 0;
    const { effects, reconciled, announced } = await preview();
    expect(effectsOf(effects, userId)).toMatchObject([
      { action: 'credit', object: body.session_id, amount_micros: 5_000_000, currency: 'EUR' },
      { action: 'take_back', amount_micros: 1_000_000, currency: 'EUR' },
    ]);
    expect(effectsOf(effects, buyer.userId)).toMatchObject([{ action: 'announce' }]);
    expect(reconciled).toBeGreaterThan(1);
    expect(announced).toBe((await billing.db('customers')).length);
    expect(stripe.calls.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await snapshot()).toEqual(before);
    await afterRestore();
    expect((await billing.call('GET', '/v1/gateway/wallet', { token })).body.balance_micros).toBe(4_000_000);
  });
});
