import { events, newId, streams } from '@svc/contracts';
import { connectMessaging, type Messaging, startRelay } from '@svc/messaging';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { createLogger } from '@svc/service-kit';
import { captureLogs, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkBalances } from '../src/balances.ts';
import { startUsageConsumer } from '../src/reservations/index.ts';
import { APP, type TestBilling, testBilling } from './support/billing.ts';
import { gatewayAccounts } from './support/gateway-accounts.ts';

let nats: TestNats;
let billing: TestBilling;
let messaging: Messaging;
let operator: Messaging;
beforeAll(async () => {
  [nats, billing] = await Promise.all([testNats(), testBilling()]);
  const logger = createLogger({ service: 'billing', level: 'silent' });
  messaging = await connectMessaging({ url: nats.urlOf('billing'), name: 'billing', logger });
  operator = await connectMessaging({ url: nats.url, name: 'operator', logger });
});
afterAll(async () => {
  await messaging.close();
  await operator.close();
  await Promise.all([billing.stop(), nats.stop()]);
});

const factOf = (userId: string, requestId: string, costMicros: number) => ({
  request_id: requestId,
  kind: 'delegated',
  svc_user_id: userId,
  client_id: APP,
  key_id: null,
  service: 'chat',
  outcome: 'settled',
  cost_micros: costMicros,
  input_tokens: 1,
  output_tokens: 1,
  audio_ms: null,
  started_at: '2026-10-01T12:00:00.000Z',
  finished_at: '2026-10-01T12:00:00.000Z',
});
const publish = async (records: object[], id = crypto.randomUUID()) => {
  const { subject } = events.usageRecorded;
  const envelope = {
    id,
    subject,
    aggregate: `usage:${id}`,
    version: 1,
    occurred_at: '2026-10-01T12:00:00.000Z',
    data: { records },
  };
  // Without a message id, so that the broker does not drop repetitions before the consumer sees them.
  await operator.jetstream.publish(subject, JSON.stringify(envelope));
};
const accountOf = async (userId: string) => billing.db('accounts').where({ svc_user_id: userId }).first();

describe('the usage consumer', () => {
  test('settles each request once despite repeated and reordered reports, and stores usage that was never admitted', async () => {
    const logs = captureLogs();
    const consumer = startUsageConsumer({ ...billing.app.settlement, logger: logs.logger, messaging });
    try {
      const { userId } = await billing.subscribe('full');
      const one = await billing.admit(userId);
      const two = await billing.admit(userId);
      const stray = newId('req');
      await billing.settle(one.requestId, { outcome: 'settled', cost_micros: 11 });
      const released = { ...factOf(userId, newId('req'), 0), outcome: 'released' };
      const unknown = { ...factOf(userId, newId('req'), 7), outcome: 'uncertain' };
      const usage = [factOf(userId, one.requestId, 11), factOf(userId, stray, 5), factOf(userId, two.requestId, 31)];
      const records = [released, ...usage, unknown];
      const id = crypto.randomUUID();
      for (let time = 0; time < 3; time += 1) await publish(records, id);
      await publish([factOf(userId, two.requestId, 31)]);
      await waitFor(async () => (await accountOf(userId)).pending === 0 && (await billing.db('inbox')).length === 2);
      const logged = logs.entries.filter(({ message }) => message === 'usage is settled');
      const ids = logged.flatMap(({ fields }) => fields['request_ids']);
      expect(ids).toEqual(expect.arrayContaining([one.requestId, two.requestId, stray]));
      await billing.settle(two.requestId, { outcome: 'settled', cost_micros: 31 });
      expect(await accountOf(userId)).toMatchObject({ pending: 0, week_used_micros: 42, month_used_micros: 42 });
      expect(await checkBalances(billing.db)).toEqual([]);
      const kept = await billing.db('unadmitted_usage');
      expect(kept).toHaveLength(1);
      expect(kept[0]).toMatchObject({ request_id: stray, event_id: id, fact: { cost_micros: 5 } });
    } finally {
      await consumer.stop();
    }
  });
  test('holds the estimate of an uncertain API-key request until its cost arrives', async () => {
    const accounts = gatewayAccounts(billing);
    const owner = await accounts.fund();
    const { requestId, leaseId } = await accounts.ask(owner);
    const fact = {
      ...factOf(owner.userId, requestId, 420),
      kind: 'api_key',
      client_id: null,
      key_id: owner.keyId,
      lease: { lease_id: leaseId, hold_micros: 1_000_000 },
    };
    const consumer = startUsageConsumer({ ...billing.app.settlement, messaging });
    const held = async () => (await accounts.wallet(owner.token)).held_micros;
    try {
      expect(await held()).toBe(1_000_000);
      for (let time = 0; time < 2; time += 1) await publish([{ ...fact, outcome: 'uncertain' }]);
      await accounts.endLease(requestId, 420);
      await waitFor(async () => (await held()) === 420);
      await publish([{ ...fact, cost_micros: 777 }]);
      await waitFor(async () => (await held()) === 0);
      expect((await accounts.wallet(owner.token)).balance_micros).toBe(10_000_000 - 777);
      expect(await checkBalances(billing.db)).toEqual([]);
    } finally {
      await consumer.stop();
    }
  });
  test('settles usage published while it was down', async () => {
    const { userId } = await billing.subscribe('full');
    const { requestId } = await billing.admit(userId);
    await publish([factOf(userId, requestId, 8)]);
    await nats.restart();
    const consumer = startUsageConsumer({ ...billing.app.settlement, messaging });
    try {
      await waitFor(async () => (await accountOf(userId)).week_used_micros === 8);
    } finally {
      await consumer.stop();
    }
  });
});

describe('subscription facts', () => {
  test('reach the stream in the order of their revisions', async () => {
    const { userId, subscriptionId } = await billing.subscribe();
    await billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}`, { json: { status: 'past_due' } });
    await billing.call('POST', `/sandbox/payments/subscriptions/${subscriptionId}`, { json: { status: 'canceled' } });
    const relay = startRelay({ databaseUrl: billing.config.DATABASE_URL, messaging, service: 'billing' });
    try {
      await waitFor(async () => (await billing.db('outbox').whereNull('published_at')).length === 0);
    } finally {
      await relay.stop();
    }
    // The stream keeps facts for this consumer, which no process serves here.
    const durable = await operator.jetstream.consumers.get(streams.billing.name, 'webhook-dispatcher_subscriptions');
    const published: unknown[] = [];
    for await (const message of await durable.fetch({ max_messages: 1_000, expires: 2_000 })) {
      const event = message.json<{ aggregate: string; version: number; subject: string }>();
      if (event.aggregate === `subscription:${userId}`) published.push([event.subject, event.version]);
      if (published.length === 3) break;
    }
    expect(published).toEqual([
      ['billing.subscription.changed.v1', 1],
      ['billing.subscription.changed.v1', 2],
      ['billing.subscription.ended.v1', 3],
    ]);
  });
});
