import { randomUUID } from 'node:crypto';
import { type EventEnvelope, events } from '@svc/contracts';
import { type Consumer, connectMessaging, type Messaging } from '@svc/messaging';
import { createLogger } from '@svc/service-kit';
import { type TestNats, testNats, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEndingConsumer } from '../src/endings/index.ts';
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
  consumer = startEndingConsumer({ database: billing.db, messaging });
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
  await waitFor(async () => (await endingOf(userId))?.wanted === wanted, { timeoutMs: 20_000 });
  await billing.app.tickPayments();
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
  await billing
    .db('sandbox_payments.subscriptions')
    .where({ customer: userId })
    .update({ cancel_at_period_end: true, is_announced: false });
  await billing.app.tickPayments();
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
  await announce(accountDeletionRequested.subject, 1, userId);
  await announce(accountErased.subject, 2, userId);
  expect(await subscriptionOf(token)).toMatchObject({ status: 'canceled' });
  expect(await billing.db('sandbox_payments.saved_cards').where({ customer: userId })).toEqual([]);
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
  await waitFor(async () => (await endingOf(userId))?.wanted === 'keep', { timeoutMs: 20_000 });
  await billing.app.tickPayments();
  expect(await subscriptionOf(token)).toMatchObject({ cancel_at_period_end: false });
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
    await paid.app.tickPayments();
    expect(await current(token)).toMatchObject({ status: 'active', cancel_at_period_end: true });
    await want('erase');
    await paid.app.tickPayments();
    // As after a crash before the end was recorded.
    await want('erase');
    await paid.app.tickPayments();
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
