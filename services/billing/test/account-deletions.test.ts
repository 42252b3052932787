import { randomUUID } from 'node:crypto';
import { type EventEnvelope, events, newId } from '@svc/contracts';
import { type Consumer, connectMessaging, type Messaging } from '@svc/messaging';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { createLogger } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAccountDeletionConsumer } from '../src/account-deletions.ts';
import { type TestBilling, testBilling } from './support/billing.ts';
import { stripeBilling } from './support/stripe-billing.ts';

let nats: TestNats;
let billing: TestBilling;
let messaging: Messaging;
let operator: Messaging;
let consumer: Consumer;

beforeAll(async () => {
  [nats, billing] = await Promise.all([testNats(), testBilling()]);
  const logger = createLogger({ service: 'billing', level: 'silent' });
  messaging = await connectMessaging({ url: nats.urlOf('billing'), name: 'billing', logger });
  operator = await connectMessaging({ url: nats.url, name: 'operator', logger });
  consumer = startAccountDeletionConsumer({ database: billing.db, messaging });
});
afterAll(async () => {
  await consumer?.stop();
  await Promise.all([messaging?.close(), operator?.close()]);
  await Promise.all([billing?.stop(), nats?.stop()]);
});

const { accountDeletionRequested, accountDeletionCancelled, accountErased } = events;
const publish = async (subject: string, version: number, userId: string): Promise<void> => {
  const envelope: Omit<EventEnvelope, 'epoch'> = {
    id: randomUUID(),
    subject,
    aggregate: `account_deletion:${userId}`,
    version,
    occurred_at: '2026-10-01T12:00:00.000Z',
    data: { svc_user_id: userId, erased_at: '2026-10-08T12:00:00.000Z' },
  };
  await operator.jetstream.publish(subject, JSON.stringify(envelope));
};
const endingOf = (userId: string, of: TestBilling = billing) =>
  of.db('account_endings').where({ svc_user_id: userId }).first();
const announce = async (subject: string, version: number, userId: string): Promise<void> => {
  const wanted =
    subject === accountErased.subject ? 'erase' : subject === accountDeletionRequested.subject ? 'cancel' : 'keep';
  await publish(subject, version, userId);
  await waitFor(async () => (await endingOf(userId))?.wanted === wanted);
  await billing.tick();
};
const subscriptionOf = async (token: string) =>
  (await billing.call('GET', '/v1/subscriptions', { token })).body.subscription;

test('cancels the subscription for the end of its period when the deletion is requested, and resumes it when that is cancelled', async () => {
  const { userId, token } = await billing.subscribe();
  await announce(accountDeletionRequested.subject, 1, userId);
  expect(await subscriptionOf(token)).toMatchObject({ status: 'active', cancel_at_period_end: true });
  await announce(accountDeletionCancelled.subject, 2, userId);
  expect(await subscriptionOf(token)).toMatchObject({ status: 'active', cancel_at_period_end: false });
});

test('leaves a subscription cancelled that its owner had cancelled before', async () => {
  const { userId, token } = await billing.subscribe();
  const portal = await billing.call('POST', '/v1/subscriptions/portal', {
    token,
    json: { return_url: 'https://shop.example/' },
  });
  await billing.call('POST', `${new URL(portal.body.url).pathname}/submit`, { form: { action: 'cancel' } });
  await announce(accountDeletionRequested.subject, 1, userId);
  await announce(accountDeletionCancelled.subject, 2, userId);
  expect(await subscriptionOf(token)).toMatchObject({ cancel_at_period_end: true });
});

test('ends the subscription at the erasure, and forgets the card and the settings, but not the ledger', async () => {
  const { userId, token } = await billing.subscribe();
  await billing.call('PUT', '/v1/subscriptions/alerts', {
    token,
    json: { thresholds_percent: [50], wallet_below_micros: null },
  });
  const session = { svc_user_id: userId };
  const sessions = await billing.db('checkout_sessions').where(session);
  const { customer_id } = await billing.db('stripe_customers').where(session).first();
  await announce(accountDeletionRequested.subject, 1, userId);
  await announce(accountErased.subject, 2, userId);
  expect(await subscriptionOf(token)).toMatchObject({ status: 'canceled' });
  expect(billing.stripe.object(customer_id)).toEqual({ id: customer_id, object: 'customer', deleted: true });
  expect(billing.stripe.list('payment_method').filter(({ customer }) => customer === customer_id)).toEqual([]);
  for (const table of ['alert_settings', 'auto_top_ups']) expect(await billing.db(table).where(session)).toEqual([]);
  expect(await billing.db('checkout_sessions').where(session)).toEqual(sessions);
  expect(
    await billing.db('outbox').where({ subject: 'billing.subscription.ended.v1', aggregate: `subscription:${userId}` }),
  ).toHaveLength(1);
});

test('takes facts that arrive in another order in the order of their versions', async () => {
  const { userId, token } = await billing.subscribe();
  await publish(accountDeletionCancelled.subject, 2, userId);
  await announce(accountDeletionRequested.subject, 1, userId).catch(() => undefined);
  await waitFor(async () => (await endingOf(userId))?.wanted === 'keep');
  await billing.tick();
  expect(await subscriptionOf(token)).toMatchObject({ cancel_at_period_end: false });
});

test('lists the accounts whose erasure arrived since a moment, in pages by id', async () => {
  const ids = Array.from({ length: 1_001 }, () => newId('usr')).toSorted();
  const row = (svc_user_id: string, wanted: string, days: number) => ({
    svc_user_id,
    wanted,
    is_applied: true,
    updated_at: new Date(Date.now() - days * 86_400_000),
  });
  const others = [row(newId('usr'), 'erase', 40), row(newId('usr'), 'cancel', 1), row(newId('usr'), 'keep', 1)];
  await billing.db('account_endings').insert([...ids.map((id) => row(id, 'erase', 20)), ...others]);
  const since = new Date(Date.now() - 30 * 86_400_000).toISOString();
  const list = async (after: Record<string, string> = {}): Promise<{ data: string[]; has_more: boolean }> => {
    const query = new URLSearchParams({ since, ...after });
    return JSON.parse((await billing.internal('GET', `/internal/erased-accounts?${query}`)).text);
  };
  const first = await list();
  const second = await list({ after: first.data.at(-1) ?? '' });
  expect([first.data.length, first.has_more, second.has_more]).toEqual([1_000, true, false]);
  expect([...first.data, ...second.data]).toEqual(expect.arrayContaining(ids));
  expect(second.data).not.toContain(others[0]?.svc_user_id);
});

test('ends the subscription and the customer at Stripe, also when it is repeated, and refunds nothing', async () => {
  const { stripe, billing: paid, subscribe, current, stop } = await stripeBilling();
  try {
    const { userId, token, stripeId } = await subscribe();
    const want = (wanted: string) =>
      paid
        .db('account_endings')
        .insert({ svc_user_id: userId, wanted, is_applied: false, updated_at: new Date() })
        .onConflict('svc_user_id')
        .merge();
    await want('cancel');
    await paid.tick();
    expect(await current(token)).toMatchObject({ status: 'active', cancel_at_period_end: true });
    await want('erase');
    await paid.tick();
    // As after a crash before the end was recorded.
    await want('erase');
    await paid.tick();
    expect(await current(token)).toMatchObject({ status: 'canceled' });
    expect(stripe.object(stripeId)).toMatchObject({ status: 'canceled' });
    expect(stripe.calls.some(({ method, path }) => method === 'DELETE' && path.startsWith('/v1/customers/'))).toBe(
      true,
    );
    expect(stripe.list('refund')).toEqual([]);
    expect(await paid.db('stripe_customers').where({ svc_user_id: userId })).toEqual([]);
    expect((await endingOf(userId, paid)).is_applied).toBe(true);
  } finally {
    await stop();
  }
});
