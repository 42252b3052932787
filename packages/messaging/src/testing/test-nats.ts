import { rmSync } from 'node:fs';
import { type NatsServer, scratchDirectory, startNats } from '@svc/testing/servers';
import { type BrokerUser, brokerUrl, type DurableOptions, migrateBroker, renderAccounts } from '../broker/index.ts';

/** A real nats-server with JetStream for one test file. Its port survives restarts. */
export interface TestNats {
  /** The operator's URL: it may do everything. */
  readonly url: string;
  /** Returns the URL of one user, with the permissions that it has in production. */
  readonly urlOf: (user: BrokerUser) => string;
  /** Stops it gracefully and starts it with its data. */
  readonly restart: () => Promise<void>;
  /** Kills it like a crash. `start` brings it back with the data on disk. */
  readonly kill: () => Promise<void>;
  /** Stops it gracefully. `start` brings it back. */
  readonly pause: () => Promise<void>;
  /** Stops its process with SIGSTOP: connections stay open, and nothing answers. */
  readonly hang: () => void;
  /** Continues it after `hang`. */
  readonly resume: () => void;
  /** Starts it again after `kill` or `pause`. */
  readonly start: () => Promise<void>;
  /** Stops it, deletes its data and starts it with empty streams. */
  readonly wipe: () => Promise<void>;
  /** Stops it and deletes its data. */
  readonly stop: () => Promise<void>;
}

const passwordOf = (user: BrokerUser): string => `password-of-${user}`;
const ACCOUNTS = renderAccounts({ passwordOf: (user) => JSON.stringify(passwordOf(user)) });

export interface TestNatsOptions {
  /** True for a server that the test stops or wipes. */
  readonly own?: boolean | undefined;
  /** Durable consumers; those of the event table by default. Requires `own`. */
  readonly durables?: readonly DurableOptions[];
}

/**
 * Starts a server with the users, streams and durable consumers of the product, or uses the one at TEST_NATS_URL, which
 * cannot be restarted or wiped. Tests that need to do so pass `own`.
 */
export const testNats = async (options: TestNatsOptions = {}): Promise<TestNats> => {
  const given = process.env['TEST_NATS_URL'];
  if (options.own !== true && given !== undefined && given !== '') return await givenServer(given);
  const scratch = await scratchDirectory();
  const storeDir = `${scratch.path}/nats`;
  let server: NatsServer = await startNats({ storeDir, accounts: ACCOUNTS });
  const { port } = server;
  const urlOf = (user: BrokerUser): string => brokerUrl(server.url, user, passwordOf(user));
  const url = urlOf('operator');
  const start = async () => {
    server = await startNats({ storeDir, port, accounts: ACCOUNTS });
  };
  const { durables } = options;
  const migrate = () => migrateBroker(durables === undefined ? { url } : { url, durables });
  await migrate();
  return {
    url,
    urlOf,
    start,
    kill: () => server.kill(),
    pause: () => server.stop(),
    hang: () => void process.kill(server.pid, 'SIGSTOP'),
    resume: () => void process.kill(server.pid, 'SIGCONT'),
    async restart() {
      await server.stop();
      await start();
    },
    async wipe() {
      await server.stop();
      rmSync(storeDir, { recursive: true, force: true });
      await start();
      await migrate();
    },
    async stop() {
      await server.stop();
      scratch.remove();
    },
  };
};

const givenServer = async (url: string): Promise<TestNats> => {
  await migrateBroker({ url });
  const refuse = () =>
    Promise.reject(new Error('The server at TEST_NATS_URL cannot be stopped: use testNats({ own: true }).'));
  return {
    url,
    urlOf: () => url,
    restart: refuse,
    kill: refuse,
    pause: refuse,
    hang: refuse,
    resume: refuse,
    start: refuse,
    wipe: refuse,
    stop: () => Promise.resolve(),
  };
};
