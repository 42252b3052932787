import { type ServiceName, serviceNames } from '@svc/contracts';
import type { BrokerUser } from '@svc/messaging/broker';
import { type NatsServer, StartError, startNats, startPostgres } from '@svc/testing/servers';
import { keepRunning } from './keep-running.ts';
import { variablePrefix } from './secrets.ts';
import type { StackContext } from './stack-context.ts';

const ADMIN = 'svc_admin';
/** Enough for a pool in each process of the four services, and for manual connections. */
const CONNECTIONS_MAX = 200;

export interface DatabaseServer {
  readonly adminUrl: string;
  /** True if this start created the cluster. */
  readonly created: boolean;
}

/** Starts PostgreSQL on the stack's data directory and keeps it running. */
export const startDatabaseServer = async (context: StackContext): Promise<DatabaseServer> => {
  const { ports, secrets, paths } = context;
  const port = ports.get('postgres') ?? 0;
  let created = false;
  await keepRunning(context, {
    name: 'postgres',
    url: `postgres://127.0.0.1:${port}`,
    launch: async (options) => {
      const server = await startPostgres({
        ...options,
        dataDir: paths.cluster,
        port,
        user: ADMIN,
        password: secrets.POSTGRES_PASSWORD,
        flags: { max_connections: String(CONNECTIONS_MAX) },
      });
      created ||= server.created;
      return server;
    },
  });
  return { adminUrl: `postgres://${ADMIN}:${secrets.POSTGRES_PASSWORD}@127.0.0.1:${port}/postgres`, created };
};

export const givenDatabaseUrl = (env: NodeJS.ProcessEnv, service: ServiceName): string | undefined =>
  env[`${variablePrefix(service)}_DATABASE_URL`] || undefined;

/** NATS, with a URL for each of its users. */
export interface Broker {
  readonly urlOf: (user: BrokerUser) => string;
}

/**
 * Starts NATS on the stack's data directory with a user for each service, keeps it running and migrated. `NATS_URL`, if set,
 * is used instead, for all of them. Throws StartError.
 */
export const startBroker = async (context: StackContext): Promise<Broker> => {
  const { NATS_URL: given, NATS_CA_FILE: caFile } = context.settings.env;
  const broker = given ? await useGivenBroker(given, caFile || undefined) : await startOwnBroker(context);
  const { description } = context.stackFile;
  description.nats_url = broker.urlOf('operator');
  for (const service of serviceNames) description.nats_urls[service] = broker.urlOf(service);
  return broker;
};

const startOwnBroker = async (context: StackContext): Promise<Broker> => {
  const { ports, paths, secrets } = context;
  // Loaded while PostgreSQL starts.
  const { brokerUrl, renderAccounts } = await import('@svc/messaging/broker');
  const port = ports.get('nats') ?? 0;
  const url = `nats://127.0.0.1:${port}`;
  const passwordOf = (user: BrokerUser): string => secrets[`${variablePrefix(user)}_NATS_PASSWORD`];
  const urlOf = (user: BrokerUser): string => brokerUrl(url, user, passwordOf(user));
  const accounts = renderAccounts({ passwordOf: (user) => JSON.stringify(passwordOf(user)) });
  await keepRunning(context, {
    name: 'nats',
    url,
    launch: async (options) => {
      const server = await startNats({ ...options, storeDir: paths.nats, port, accounts });
      await keepMigrated(server, { url: urlOf('operator'), onOutput: options.onOutput });
      return server;
    },
  });
  return { urlOf };
};

const useGivenBroker = async (url: string, caFile: string | undefined): Promise<Broker> => {
  const { migrateBroker } = await import('@svc/messaging/broker');
  try {
    await migrateBroker({ url, caFile });
  } catch (error) {
    throw new StartError(
      `The streams cannot be created at NATS_URL (${messageOf(error)}). Use a user with the right to create them.`,
    );
  }
  return { urlOf: () => url };
};

/** Keeps streams and durable consumers in place for as long as the server runs. */
const keepMigrated = async (
  server: NatsServer,
  { url, onOutput }: { readonly url: string; readonly onOutput: (text: string) => void },
): Promise<void> => {
  const { keepBrokerMigrated } = await import('@svc/messaging/broker');
  try {
    const kept = await keepBrokerMigrated({ url }, (error) => onOutput(`cannot be migrated: ${messageOf(error)}\n`));
    void server.exited.then(() => kept.stop());
  } catch (error) {
    await server.stop();
    throw new StartError(`The streams of NATS cannot be created (${messageOf(error)}).`);
  }
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
