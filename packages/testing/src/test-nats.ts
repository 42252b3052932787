import { rmSync } from 'node:fs';
import { type BrokerUser, brokerUrl, migrateBroker, renderAccounts } from '@svc/broker';
import { type NatsServer, scratchDirectory, startNats } from '@svc/embedded-servers';

/** A real nats-server with JetStream for one test file, on a port that stays the same over restarts. */
export interface TestNats {
  /** The operator's URL: it may do everything. */
  readonly url: string;
  /** URL of one user, with the permissions that it has in production. */
  urlOf(user: BrokerUser): string;
  /** Stops it in order and starts it again with its data. */
  restart(): Promise<void>;
  /** Ends it as a crash would; `start` brings it back with what it had on disk. */
  kill(): Promise<void>;
  /** Stops it in order; `start` brings it back. */
  pause(): Promise<void>;
  /** Starts it again after `kill` or `pause`. */
  start(): Promise<void>;
  /** Stops it, throws its data away, starts it with empty streams. */
  wipe(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

const passwordOf = (user: BrokerUser): string => `password-of-${user}`;
const ACCOUNTS = renderAccounts({ passwordOf: (user) => JSON.stringify(passwordOf(user)) });

/**
 * Starts a server of its own with the users, streams and durable consumers of the product, or uses the one that
 * TEST_NATS_URL names, which then cannot be restarted or wiped. A test that does that asks for one of its `own` in any case.
 */
export const testNats = async (options: { readonly own?: boolean | undefined } = {}): Promise<TestNats> => {
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
  await migrateBroker({ url });
  return {
    url,
    urlOf,
    start,
    kill: () => server.kill(),
    pause: () => server.stop(),
    async restart() {
      await server.stop();
      await start();
    },
    async wipe() {
      await server.stop();
      rmSync(storeDir, { recursive: true, force: true });
      await start();
      await migrateBroker({ url });
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
    Promise.reject(new Error('A given NATS server is not stopped: ask for one with testNats({ own: true }).'));
  return {
    url,
    urlOf: () => url,
    restart: refuse,
    kill: refuse,
    pause: refuse,
    start: refuse,
    wipe: refuse,
    stop: () => Promise.resolve(),
  };
};
