import { newId } from '@svc/contracts';
import { captureLogs, freePort, waitFor } from '@svc/testing';
import { type NatsServer, scratchDirectory, startNats } from '@svc/testing/servers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BrokerUser, brokerUrl, migrateBroker, renderAccounts } from '../src/broker/index.ts';
import { connectMessaging, type Messaging, openRevocations } from '../src/index.ts';

const SERVERS: readonly string[] = ['a', 'b', 'c'];
const STREAMS = ['AUTH', 'BILLING', 'INFERENCE', 'KV_revocations'];
/** An election takes NATS up to 9 s, and again as long without a majority. A request without a leader times out after 5 s. */
const PATIENCE = { timeoutMs: 90_000, intervalMs: 100 };
const PASSWORD = 'password-of-the-tests';

let servers: NatsServer[];
let removeScratch: () => void;
beforeAll(async () => {
  const scratch = await scratchDirectory();
  removeScratch = scratch.remove;
  const accounts = renderAccounts({ passwordOf: () => PASSWORD });
  const ports = await Promise.all(SERVERS.map(() => freePort()));
  servers = await Promise.all(
    SERVERS.map((name, index) =>
      startNats({
        accounts,
        storeDir: `${scratch.path}/${name}`,
        cluster: { serverName: name, port: ports[index] ?? 0, peerPorts: ports.filter((_, other) => other !== index) },
      }),
    ),
  );
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  removeScratch();
});

const urlOf = (user: BrokerUser, from: readonly NatsServer[] = servers): string =>
  from.map(({ url }) => brokerUrl(url, user, PASSWORD)).join(',');

const connect = (user: BrokerUser, from?: readonly NatsServer[]): Promise<Messaging> =>
  connectMessaging({ url: urlOf(user, from), name: user, logger: captureLogs().logger });

const replicasOf = async ({ manager }: Messaging): Promise<Record<string, number>> => {
  const streams = await Promise.all(STREAMS.map((name) => manager.streams.info(name)));
  return Object.fromEntries(streams.map(({ config }) => [config.name, config.num_replicas]));
};
const each = (count: number) => Object.fromEntries(STREAMS.map((name) => [name, count]));

test('services connected to any server of a cluster publish, consume and follow revocations', async () => {
  await migrateBroker({ url: urlOf('operator'), replicas: 3 });
  const auth = await connect('auth');
  for (const server of servers) {
    const dispatcher = await connect('webhook-dispatcher', [server]);
    const view = await openRevocations(dispatcher, { sources: [] });
    const grantId = newId('grt');
    await waitFor(() => auth.jetstream.publish(`$KV.revocations.grant.${grantId}`, '{}'), PATIENCE);
    await waitFor(() => view.isRevoked({ grantId }), PATIENCE);
    const { seq } = await auth.jetstream.publish('auth.connection.created.v1', 'a fact');
    const durable = await dispatcher.jetstream.consumers.get('AUTH', 'webhook-dispatcher_connections');
    const message = await waitFor(() => durable.next({ expires: 2_000 }), PATIENCE);
    expect(message.seq).toBe(seq);
    expect(await message.ackAck()).toBe(true);
    await view.stop();
    await dispatcher.close();
  }
  await auth.close();
}, 240_000);

test('existing streams and the bucket get the configured number of replicas, and then survive the loss of a server', async () => {
  const operator = await connect('operator');
  await migrateBroker({ url: urlOf('operator'), replicas: 1 });
  expect(await replicasOf(operator)).toEqual(each(1));
  const auth = await connect('auth');
  const { seq } = await waitFor(() => auth.jetstream.publish('auth.account.erased.v1', 'a fact'), PATIENCE);

  await migrateBroker({ url: urlOf('operator'), replicas: 3 });
  expect(await replicasOf(operator)).toEqual(each(3));
  // A new replica is reported as current before it has received anything. The next message makes it current.
  await waitFor(() => auth.jetstream.publish('auth.account.erased.v1', 'one more'), PATIENCE);
  const cluster = await waitFor(async () => {
    const { cluster } = await operator.manager.streams.info('AUTH');
    const isKept =
      cluster?.replicas?.length === 2 && cluster.replicas.every(({ current, lag = 0 }) => current && lag === 0);
    return isKept ? cluster : undefined;
  }, PATIENCE);
  await servers[SERVERS.indexOf(cluster.leader ?? '')]?.kill();
  const message = await waitFor(() => auth.manager.streams.getMessage('AUTH', { seq }), PATIENCE);
  expect(message.string()).toBe('a fact');
  await waitFor(() => auth.jetstream.publish('auth.account.erased.v1', 'another'), PATIENCE);
  await auth.close();
  await operator.close();
}, 240_000);
