import { durables } from '@svc/contracts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type KeptBroker, keepBrokerMigrated, migrateBroker } from '../../src/broker/index.ts';
import { type Client, startTestBroker, type TestBroker } from './support/broker.ts';

const PATIENCE = { timeout: 10_000, interval: 20 };

let broker: TestBroker;
let operator: Client;
let kept: KeptBroker | undefined;
beforeEach(async () => {
  broker = await startTestBroker();
  operator = await broker.connect('operator');
});
afterEach(async () => {
  await kept?.stop();
  kept = undefined;
  await broker.stop();
});

const migrate = () => migrateBroker({ url: broker.urlOf('operator') });

test('creates streams that sync to disk, reject when full and deduplicate, and a bucket with a 13-hour TTL', async () => {
  await migrate();
  const { config } = await operator.manager.streams.info('AUTH');
  expect(config).toMatchObject({ storage: 'file', discard: 'new', subjects: ['auth.>'], compression: 's2' });
  expect(config.max_bytes).toBeGreaterThan(0);
  expect(config.duplicate_window).toBeGreaterThanOrEqual(120e9);
  const bucket = await operator.manager.streams.info('KV_revocations');
  expect(bucket.config.max_age).toBe(13 * 3600 * 1e9);
});

test('creates each durable consumer of the event table with only its facts', async () => {
  await migrate();
  for (const { stream, name, subjects } of durables) {
    const { config } = await operator.manager.consumers.info(stream, name);
    expect(config).toMatchObject({ durable_name: name, ack_policy: 'explicit', deliver_policy: 'all' });
    expect(config.filter_subjects ?? [config.filter_subject], name).toEqual(subjects);
  }
});

test('updates streams and durables that differ and keeps their messages', async () => {
  await migrate();
  await operator.manager.streams.update('AUTH', { max_bytes: 1_000_000 });
  await operator.manager.consumers.update('INFERENCE', 'billing_usage', { max_deliver: 5 });
  await operator.jetstream.publish('auth.account.erased.v1', 'a fact');
  await migrate();
  const { config, state } = await operator.manager.streams.info('AUTH');
  expect(config.max_bytes).toBeGreaterThan(1_000_000);
  expect(state.messages).toBe(1);
  const durable = await operator.manager.consumers.info('INFERENCE', 'billing_usage');
  expect(durable.config.max_deliver).toBeGreaterThan(5);
});

test('raises the size of a stream, and keeps a larger one that an operator has set', async () => {
  const sizeOf = async () => (await operator.manager.streams.info('INFERENCE')).config.max_bytes;
  const url = broker.urlOf('operator');
  await migrateBroker({ url, streamBytesMax: 20_000_000 });
  await migrateBroker({ url, streamBytesMax: 30_000_000 });
  expect(await sizeOf()).toBe(30_000_000);
  await operator.manager.streams.update('INFERENCE', { max_bytes: 50_000_000 });
  await migrateBroker({ url, streamBytesMax: 30_000_000 });
  expect(await sizeOf()).toBe(50_000_000);
});

test('recreates a deleted stream and its durables at once', async () => {
  const onFailure = vi.fn();
  kept = await keepBrokerMigrated({ url: broker.urlOf('operator') }, onFailure);
  const { manager } = operator;
  await manager.streams.delete('AUTH');
  await vi.waitFor(() => manager.consumers.info('AUTH', 'webhook-dispatcher_connections'), PATIENCE);
  await manager.consumers.delete('INFERENCE', 'billing_usage');
  await vi.waitFor(() => manager.consumers.info('INFERENCE', 'billing_usage'), PATIENCE);
  await manager.streams.delete('KV_revocations');
  await vi.waitFor(() => manager.streams.info('KV_revocations'), PATIENCE);
  expect(onFailure).not.toHaveBeenCalled();
});

test('acknowledges messages while a lost stream is made again, and afterwards', async () => {
  kept = await keepBrokerMigrated({ url: broker.urlOf('operator') }, vi.fn());
  await operator.manager.streams.delete('AUTH');
  for (let count = 0; count < 20; count += 1) {
    await vi.waitFor(
      () => operator.jetstream.publish('auth.connection.created.v1', 'a fact', { timeout: 1_000 }),
      PATIENCE,
    );
  }
});

test('fails with a reason for an unprivileged user and for an unreachable broker', async () => {
  await expect(migrateBroker({ url: broker.urlOf('auth') })).rejects.toMatchObject({ code: 'PERMISSIONS_VIOLATION' });
});
