import type { ServiceName } from '@svc/contracts';
import { type NatsServer, type ScratchDirectory, scratchDirectory, startNats } from '@svc/testing/servers';
import type { JetStreamClient, JetStreamManager, NatsConnection } from 'nats';
import {
  type BrokerUser,
  brokerUrl,
  connectToBroker,
  jetStreamOptions,
  renderAccounts,
} from '../../../src/broker/index.ts';

const TIMEOUT_MS = 2_000;
const passwordOf = (user: BrokerUser): string => `password-of-${user}`;

/** A connection of one user, with its JetStream clients. */
export interface Client {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
}

/** A nats-server with the accounts of the product, and connections to it that `stop` closes. */
export interface TestBroker {
  readonly server: NatsServer;
  readonly urlOf: (user: BrokerUser) => string;
  readonly connect: (user: BrokerUser) => Promise<Client>;
  readonly connectServices: () => Promise<Record<ServiceName, Client>>;
  readonly stop: () => Promise<void>;
}

/** Starts a server that has no streams yet. */
export const startTestBroker = async (): Promise<TestBroker> => {
  const scratch: ScratchDirectory = await scratchDirectory();
  const accounts = renderAccounts({ passwordOf: (user) => JSON.stringify(passwordOf(user)) });
  const server = await startNats({ storeDir: `${scratch.path}/nats`, accounts });
  const open: NatsConnection[] = [];
  const urlOf = (user: BrokerUser): string => brokerUrl(server.url, user, passwordOf(user));
  const connect = async (user: BrokerUser): Promise<Client> => {
    const url = urlOf(user);
    const connection = await connectToBroker({ url, name: user });
    open.push(connection);
    const options = { ...jetStreamOptions({ url }), timeout: TIMEOUT_MS, checkAPI: false };
    const manager = await connection.jetstreamManager(options);
    return { connection, jetstream: connection.jetstream(options), manager };
  };
  return {
    server,
    urlOf,
    connect,
    connectServices: async () => ({
      auth: await connect('auth'),
      billing: await connect('billing'),
      'inference-gateway': await connect('inference-gateway'),
      'webhook-dispatcher': await connect('webhook-dispatcher'),
    }),
    async stop() {
      await Promise.all(open.map((connection) => connection.close()));
      await server.stop();
      scratch.remove();
    },
  };
};
