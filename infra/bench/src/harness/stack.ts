import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@svc/contracts';
import { openSession, provision } from '@svc/database';
import type { BrokerUser } from '@svc/messaging/broker';
import { freePort, type PostgresServer, scratchDirectory, startPostgres, startStandby } from '@svc/testing/servers';
import { bundleService, type Launch, type NodeProcess, startNode } from './node-process.ts';
import { restartable, startBroker } from './start-broker.ts';
import { type Archive, archiveFlags, openArchive, USED_WAL_FLAGS, useWal } from './write-ahead-log.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const CONNECTIONS_MAX = 250;

/** A service under measurement in a separate process. */
export interface RunningService {
  readonly url: string;
  readonly internalUrl: string;
  readonly databaseUrl: string;
  readonly process: NodeProcess;
  /** Starts another process of the same service, with the same database and environment except for these variables. */
  readonly replica: (env?: Readonly<Record<string, string>>) => Promise<RunningService>;
}

/** A server that can be stopped and restarted on its port with its data. */
export interface RestartableServer {
  readonly pid: () => number;
  /** Stops it gracefully or with a crash, and restarts it. */
  readonly restart: (how: 'stop' | 'kill') => Promise<void>;
  readonly kill: () => Promise<void>;
  /** Starts it after a kill. */
  readonly start: () => Promise<void>;
}

/** Servers that a measurement needs beyond PostgreSQL and NATS. */
export interface StackChoices {
  readonly hasStandby?: boolean;
  readonly hasArchive?: boolean;
  readonly natsNodes?: number;
}

/** Launch options of a service apart from its settings. */
export interface ServiceLaunch extends Launch {
  /** Runs a fresh production bundle instead of the source. */
  readonly isBundled?: boolean;
}

/** Servers and services of one measurement. */
export interface Stack {
  /** URL of a user of NATS; the operator has all rights. */
  readonly natsUrlOf: (user: BrokerUser) => string;
  /** The superuser's connection string. */
  readonly postgresUrl: string;
  readonly postgres: RestartableServer;
  /** Base backups and archived WAL of that server, if asked for. */
  readonly archive: Archive | undefined;
  /** A synchronous standby, if there is one: services then know both servers. */
  readonly standby: PostgresServer | undefined;
  /** The servers of NATS: one, or those of a cluster with a copy of each stream on every one. */
  readonly nats: RestartableServer;
  readonly natsServers: readonly RestartableServer[];
  /** Replaces NATS by an empty one at the same address. */
  readonly emptyNats: () => Promise<void>;
  /** The service credential that all services accept. */
  readonly internalToken: string;
  readonly operatorToken: string;
  /** The credential of auth, which exports personal data. */
  readonly authToken: string;
  /** Reads an example configuration of the local stack. */
  readonly example: (file: 'plans.yaml' | 'routes.yaml') => string;
  /** Path for a file that is deleted with the stack. */
  readonly scratchFile: (name: string) => string;
  /** Creates a service's empty database. */
  readonly database: (service: ServiceName) => Promise<string>;
  /** Migrates a service's database, starts the service and waits until it is ready. */
  readonly start: (
    service: ServiceName,
    env?: Readonly<Record<string, string>>,
    launch?: ServiceLaunch,
  ) => Promise<RunningService>;
  /** Starts another script of the measurement. */
  readonly startScript: (
    script: string,
    env?: Readonly<Record<string, string>>,
    launch?: Launch,
  ) => Promise<NodeProcess>;
  /** Stops everything, newest first. */
  readonly stop: () => Promise<void>;
}

/** Starts PostgreSQL, with a standby or without, and NATS in a scratch directory, all syncing to disk as in production. */
export const startStack = async (
  flags: Readonly<Record<string, string>> = {},
  { hasStandby = false, hasArchive = false, natsNodes = 1 }: StackChoices = {},
): Promise<Stack> => {
  const scratch = await scratchDirectory();
  const stops: (() => Promise<unknown>)[] = [async () => scratch.remove()];
  const stop = async () => {
    for (const stopOne of stops.splice(0).reverse()) await stopOne();
  };
  stopOnSignal(stop);
  const { postgres, server, archive, standby } = await startDatabases(scratch.path, flags, { hasStandby, hasArchive });
  stops.push(server.stop);
  if (standby !== undefined) stops.push(standby.stop);
  const broker = await startBroker(join(scratch.path, 'nats'), natsNodes);
  stops.push(...broker.servers.map((server) => server.stop));
  const { internalToken, operatorToken, ...callers } = createCredentials();
  const accepted = [internalToken, operatorToken, ...Object.values(callers)];
  const tokens = { INTERNAL_API_TOKENS: accepted.join(','), INTERNAL_API_TOKEN: internalToken };
  let started = 0;
  const startScript: Stack['startScript'] = async (script, env = {}, launch = {}) => {
    started += 1;
    const child = await startNode(script, env, { ...launch, logFile: join(scratch.path, `${started}.log`) });
    stops.push(child.stop);
    return child;
  };
  const startService = async (
    main: string,
    env: Readonly<Record<string, string>> & { readonly DATABASE_URL: string },
    launch: Launch,
    databaseUrl = env.DATABASE_URL,
  ): Promise<RunningService> => {
    const port = env['PORT'] ?? String(await freePort());
    const internalPort = env['INTERNAL_PORT'] ?? String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const internalUrl = `http://127.0.0.1:${internalPort}`;
    const settings = {
      PUBLIC_BASE_URL: url,
      ...tokens,
      PORT: port,
      INTERNAL_PORT: internalPort,
      // As in production.
      LOG_LEVEL: 'info',
      SHUTDOWN_GRACE_MS: '2000',
      ...env,
    };
    const own = await startScript(main, settings, launch);
    await own.ready(`${internalUrl}/readyz`);
    const replica: RunningService['replica'] = (other) => startService(main, { ...env, ...other }, launch, databaseUrl);
    return { url, internalUrl, databaseUrl, process: own, replica };
  };
  const database: Stack['database'] = (service) =>
    provision({ adminUrl: postgres.url, service, password: randomBytes(16).toString('hex') });
  return {
    natsUrlOf: broker.natsUrlOf,
    postgresUrl: postgres.url,
    postgres: server,
    archive,
    standby,
    nats: broker.first,
    natsServers: broker.servers,
    emptyNats: broker.empty,
    internalToken,
    operatorToken,
    authToken: callers.authToken,
    example: (file) => join(ROOT, 'infra', 'local', 'config', file),
    scratchFile: (name) => join(scratch.path, name),
    startScript,
    stop,
    database,
    start: async (service, env = {}, { isBundled = false, ...launch } = {}) => {
      const databaseUrl = await database(service);
      const migrate = join(ROOT, 'services', service, 'src', 'migrate.ts');
      await (await startScript(migrate, { DATABASE_URL: databaseUrl })).succeed();
      const main = isBundled
        ? bundleService(join(ROOT, 'services', service))
        : join(ROOT, 'services', service, 'src', 'main.ts');
      const own = ownSettings(callers)[service];
      const urls = { DATABASE_URL: withStandby(databaseUrl, standby), NATS_URL: broker.natsUrlOf(service) };
      return await startService(main, { ...own, ...env, ...urls }, launch, databaseUrl);
    },
  };
};

const createCredentials = () => {
  const credentialOf = (caller: string): string => `${caller}:${randomBytes(24).toString('hex')}`;
  return {
    internalToken: credentialOf('inference-gateway'),
    dispatcherToken: credentialOf('webhook-dispatcher'),
    authToken: credentialOf('auth'),
    operatorToken: credentialOf('operator'),
  };
};

const startDatabases = async (
  scratch: string,
  flags: Readonly<Record<string, string>>,
  { hasStandby, hasArchive }: StackChoices,
) => {
  const options = {
    dataDir: join(scratch, 'postgres'),
    user: 'bench',
    password: randomBytes(16).toString('hex'),
    port: await freePort(),
    flags: {
      max_connections: String(CONNECTIONS_MAX),
      ...USED_WAL_FLAGS,
      ...(hasArchive === true ? archiveFlags(scratch) : {}),
      ...flags,
    },
  };
  const postgres = await startPostgres(options);
  const server = restartable(postgres, () => startPostgres(options));
  // Each segment would be archived.
  if (hasArchive !== true) await useWal(postgres.url);
  return {
    postgres,
    server,
    archive: hasArchive === true ? openArchive(scratch, options, server, postgres.url) : undefined,
    standby: hasStandby === true ? await followPrimary(postgres, options) : undefined,
  };
};

/** Starts a standby that every commit waits for. */
const followPrimary = async (
  { url }: PostgresServer,
  { dataDir, user, password, flags }: Parameters<typeof startPostgres>[0],
): Promise<PostgresServer> => {
  const session = await openSession(url);
  try {
    return await startStandby({
      user,
      password,
      flags,
      dataDir: `${dataDir}-standby`,
      port: await freePort(),
      primary: { url, dataDir },
      query: (sql) => session.query<object>(sql),
    });
  } finally {
    await session.close();
  }
};

/** Returns a connection string that names the standby after the primary. */
const withStandby = (url: string, standby: PostgresServer | undefined): string => {
  if (standby === undefined) return url;
  const { host } = new URL(url);
  return `${url.replace(host, `${host},${new URL(standby.url).host}`)}?target_session_attrs=read-write`;
};

/**
 * Settings of single services. Auth asks billing for nothing but budgets, and its mails wait: the relay is outside of what
 * is measured.
 */
const ownSettings = (tokens: {
  readonly authToken: string;
  readonly dispatcherToken: string;
}): Readonly<Record<ServiceName, Readonly<Record<string, string>>>> => ({
  auth: {
    INTERNAL_API_TOKEN: tokens.authToken,
    AUTH_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    EMAIL_VERIFICATION: 'optional',
    SIGN_UPS_PER_SOURCE_PER_HOUR: '1000000',
    MAIL_URL: 'smtp://127.0.0.1:9',
    BILLING_INTERNAL_URL: 'http://127.0.0.1:1',
    INFERENCE_GATEWAY_INTERNAL_URL: 'http://127.0.0.1:1',
    WEBHOOK_DISPATCHER_INTERNAL_URL: 'http://127.0.0.1:1',
  },
  billing: {
    PAYMENTS: 'sandbox',
    PAYMENTS_SANDBOX_IN_PRODUCTION: '1',
    RECEIPT_KEY_SECRET: randomBytes(32).toString('base64'),
  },
  'inference-gateway': { PROVENANCE_KEY_SECRET: randomBytes(32).toString('base64') },
  'webhook-dispatcher': { INTERNAL_API_TOKEN: tokens.dispatcherToken },
});

/** Stops of all stacks of this process. */
const stops: (() => Promise<void>)[] = [];

const stopOnSignal = (stop: () => Promise<void>): void => {
  if (stops.push(stop) > 1) return;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      Promise.allSettled(stops.map((stopOne) => stopOne())).finally(() => process.exit(130));
    });
  }
};
