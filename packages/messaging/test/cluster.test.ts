import { type NatsServer, scratchDirectory, startNats } from '@svc/embedded-servers';
import { captureLogs, freePort, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectMessaging, type Messaging } from '../src/index.ts';

const SERVERS: readonly string[] = ['a', 'b', 'c'];
const STREAMS = ['AUTH', 'BILLING', 'INFERENCE', 'KV_revocations'];
/** An election takes NATS up to 9 s, and again as long without a majority. A request without a leader times out after 5 s. */
const PATIENCE = { timeoutMs: 90_000, intervalMs: 100 };

let servers: NatsServer[];
let removeScratch: () => void;
beforeAll(async () => {
  const scratch = await scratchDirectory();
  removeScratch = scratch.remove;
  const ports = await Promise.all(SERVERS.map(() => freePort()));
  servers = await Promise.all(
    SERVERS.map((name, index) =>
      startNats({
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

const connect = (replicas: number): Promise<Messaging> =>
  connectMessaging({
    url: servers.map(({ url }) => url).join(','),
    name: 'test',
    logger: captureLogs().logger,
    replicas,
  });

const replicasOf = async ({ manager }: Messaging): Promise<Record<string, number>> => {
  const streams = await Promise.all(STREAMS.map((name) => manager.streams.info(name)));
  return Object.fromEntries(streams.map(({ config }) => [config.name, config.num_replicas]));
};
const each = (count: number) => Object.fromEntries(STREAMS.map((name) => [name, count]));

test('existing streams and the bucket get the configured number of replicas, and then survive the loss of a server', async () => {
  const before = await connect(1);
  expect(await replicasOf(before)).toEqual(each(1));
  await before.jetstream.publish('auth.app.registered.v1', 'a fact');
  await before.close();

  const messaging = await connect(3);
  expect(await replicasOf(messaging)).toEqual(each(3));
  // A new replica is reported as current before it has received anything. The next message makes it current.
  await waitFor(() => messaging.jetstream.publish('auth.app.registered.v1', 'one more'), PATIENCE);
  const cluster = await waitFor(async () => {
    const { cluster } = await messaging.manager.streams.info('AUTH');
    const isKept =
      cluster?.replicas?.length === 2 && cluster.replicas.every(({ current, lag = 0 }) => current && lag === 0);
    return isKept ? cluster : undefined;
  }, PATIENCE);
  await servers[SERVERS.indexOf(cluster.leader ?? '')]?.kill();
  const message = await waitFor(() => messaging.manager.streams.getMessage('AUTH', { seq: 1 }), PATIENCE);
  expect(message.string()).toBe('a fact');
  await waitFor(() => messaging.jetstream.publish('auth.app.registered.v1', 'another'), PATIENCE);
  await messaging.close();
}, 240_000);
