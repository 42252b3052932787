import { type ServiceName, serviceNames } from '@svc/contracts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { migrateBroker } from '../../src/broker/index.ts';
import { type Client, startTestBroker, type TestBroker } from './support/broker.ts';

const PATIENCE = { timeout: 5_000, interval: 20 };

let broker: TestBroker;
let clients: Record<ServiceName, Client>;
beforeAll(async () => {
  broker = await startTestBroker();
  await migrateBroker({ url: broker.urlOf('operator') });
  clients = await broker.connectServices();
});
afterAll(() => broker.stop());

test('stores a fact once and delivers it to its consumer, which acknowledges it', async () => {
  const { seq } = await clients.auth.jetstream.publish('auth.app.disconnected.v1', 'a fact', { msgID: 'fact-1' });
  const repeated = await clients.auth.jetstream.publish('auth.app.disconnected.v1', 'a fact', { msgID: 'fact-1' });
  expect(repeated).toMatchObject({ seq, duplicate: true });
  const name = 'webhook-dispatcher_disconnections';
  const durable = await clients['webhook-dispatcher'].jetstream.consumers.get('AUTH', name);
  for await (const message of await durable.fetch({ max_messages: 100, expires: 1_000 })) {
    message.working();
    expect(await message.ackAck()).toBe(true);
  }
  expect(await durable.info()).toMatchObject({ num_pending: 0, num_ack_pending: 0 });
});

test('delivers a revocation to every watching service', async () => {
  const seen = new Map<string, string[]>();
  for (const service of serviceNames) {
    const bucket = await clients[service].jetstream.views.kv('revocations', { bindOnly: true });
    const keys: string[] = [];
    seen.set(service, keys);
    const watch = await bucket.watch();
    void (async () => {
      for await (const { key } of watch) keys.push(key);
    })();
  }
  await clients.auth.jetstream.publish('$KV.revocations.grant.grt_1', '{}');
  await clients['inference-gateway'].jetstream.publish('$KV.revocations.key.key_1', '{}');
  await vi.waitFor(() => {
    for (const service of serviceNames) {
      expect(seen.get(service), service).toEqual(expect.arrayContaining(['grant.grt_1', 'key.key_1']));
    }
  }, PATIENCE);
});

test('restarts a watch whose consumer is lost, without missing an entry', async () => {
  const operator = await broker.connect('operator');
  const bucket = await clients.billing.jetstream.views.kv('revocations', { bindOnly: true });
  const keys: string[] = [];
  const loaded = Promise.withResolvers<void>();
  const watch = await bucket.watch({ initializedFn: () => loaded.resolve() });
  void (async () => {
    for await (const { key } of watch) keys.push(key);
  })();
  await loaded.promise;
  for await (const { name } of operator.manager.consumers.list('KV_revocations')) {
    await operator.manager.consumers.delete('KV_revocations', name);
  }
  await clients.auth.jetstream.publish('$KV.revocations.grant.grt_meanwhile', '{}');
  // The client detects two missing heartbeats.
  await vi.waitFor(() => expect(keys).toContain('grant.grt_meanwhile'), { timeout: 25_000, interval: 50 });
});

test('delivers a signal to the other replicas of the service', async () => {
  const replica = await broker.connect('billing');
  const heard = vi.fn();
  replica.connection.subscribe('outbox_hint.billing', { callback: heard });
  await replica.connection.flush();
  clients.billing.connection.publish('outbox_hint.billing');
  await vi.waitFor(() => expect(heard).toHaveBeenCalledOnce(), PATIENCE);
});
