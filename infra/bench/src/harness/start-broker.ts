import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type BrokerUser, brokerUrl, migrateBroker, renderAccounts } from '@svc/messaging/broker';
import { freePort, type RunningServer, startNats } from '@svc/testing/servers';

/** Wraps a server that can be stopped and started again, in place or otherwise. */
export const restartable = (first: RunningServer, start: () => Promise<RunningServer>) => {
  let server = first;
  return {
    pid: () => server.pid,
    stop: () => server.stop(),
    kill: () => server.kill(),
    start: async (otherwise = start) => {
      server = await otherwise();
    },
    restart: async (how: 'stop' | 'kill') => {
      await server[how]();
      server = await start();
    },
  };
};

/** Starts NATS with the users of production: one server, or a cluster with a copy of each stream on every one. */
export const startBroker = async (storeDir: string, nodes: number, { isSynced = true } = {}) => {
  const password = randomBytes(16).toString('hex');
  const accounts = renderAccounts({ passwordOf: () => JSON.stringify(password) });
  const places = await Promise.all(
    Array.from({ length: nodes }, async (_, index) => ({
      storeDir: `${storeDir}-${index}`,
      accounts,
      isSynced,
      port: await freePort(),
      clusterPort: await freePort(),
    })),
  );
  const optionsOf = ({ clusterPort, ...own }: (typeof places)[number]) => {
    const peerPorts = places.map((place) => place.clusterPort).filter((port) => port !== clusterPort);
    return nodes === 1 ? own : { ...own, cluster: { serverName: `n${clusterPort}`, port: clusterPort, peerPorts } };
  };
  const started = await Promise.all(places.map((place) => startNats(optionsOf(place))));
  const natsUrlOf = (user: BrokerUser): string => started.map(({ url }) => brokerUrl(url, user, password)).join(',');
  const migrateAll = () => migrateBroker({ url: natsUrlOf('operator'), replicas: nodes });
  await migrateAll();
  const servers = started.map((server, index) =>
    restartable(server, () =>
      startNats(optionsOf(places[index] ?? { storeDir, accounts, isSynced, port: 0, clusterPort: 0 })),
    ),
  );
  const [first] = servers;
  if (first === undefined) throw new Error('a broker has at least one server');
  const empty = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.kill()));
    for (const place of places) rmSync(place.storeDir, { recursive: true, force: true });
    await Promise.all(servers.map((server) => server.start()));
    await migrateAll();
  };
  return { first, servers, natsUrlOf, empty };
};
