import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PROVENANCE_TYPE } from '@svc/contracts';
import { connectPatiently, createDatabase, requireMigrations } from '@svc/database';
import {
  authSource,
  connectMessaging,
  type Messaging,
  openRevocations,
  ownSource,
  type Relay,
  type RevocationView,
  startRelay,
} from '@svc/messaging';
import { openSecretKeys, openSigningKeys, requireSecretKeys } from '@svc/secrets';
import {
  createInternalClient,
  type InternalClient,
  type Lifecycle,
  type Logger,
  type Metrics,
  runPeriodically,
  watchCertificates,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import { keyDigestUse } from './api-keys/authenticate-keys.ts';
import type { Config } from './config.ts';
import { keepUsagePartitions } from './usage-records/index.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
const PARTITION_INTERVAL_MS = 6 * 3_600_000;
const AUTH_TIMEOUT_MS = 1_000;

/** Connections to the database and to NATS. */
export interface Connections {
  readonly database: Knex;
  readonly messaging: Messaging;
  readonly revocations: RevocationView;
  /** Client of the internal routes of auth. */
  readonly auth: InternalClient;
  readonly relay: Relay;
}

export interface ConnectionsOptions {
  readonly service: 'inference-gateway';
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Opens the connections. The lifecycle closes them in reverse order. */
export const openConnections = async (life: Lifecycle, options: ConnectionsOptions): Promise<Connections> => {
  const { service, config, logger, metrics } = options;
  const database = createDatabase(config.DATABASE_URL, {
    applicationName: service,
    caFile: config.DATABASE_CA_FILE,
    poolMax: config.DATABASE_POOL_MAX,
    metrics,
  });
  life.onStop('database', () => database.destroy());
  await connectPatiently(database, {
    url: config.DATABASE_URL,
    onWaiting: (err) => logger.warn({ err }, 'waiting for PostgreSQL'),
  });
  await requireMigrations(database, MIGRATIONS);
  await keepPartitions(life, database, options);
  const broker = { url: config.NATS_URL, caFile: config.NATS_CA_FILE };
  const messaging = await connectMessaging({ ...broker, name: service, logger, metrics });
  life.onStop('messaging', () => messaging.close());
  life.onStop('certificates', watchCertificates({ config, metrics, logger }).stop);
  const auth = createInternalClient({
    baseUrl: config.AUTH_INTERNAL_URL,
    token: config.INTERNAL_API_TOKEN,
    timeoutMs: AUTH_TIMEOUT_MS,
  });
  life.onStop('auth client', auth.close);
  const sources = [authSource(auth), ownSource(service, database)];
  const revocations = await openRevocations(messaging, { sources });
  life.onStop('revocations', () => revocations.stop());
  const databaseCaFile = config.DATABASE_CA_FILE;
  const relay = startRelay({ databaseUrl: config.DATABASE_URL, databaseCaFile, messaging, service });
  life.onStop('relay', () => relay.stop());
  return { database, messaging, revocations, auth, relay };
};

/** A long read may keep partitions from being created for a while. */
const START_TRIES_MAX = 20;
const START_RETRY_MS = 500;

/** Creates the partitions before the first record is written, then maintains them periodically. */
const keepPartitions = async (
  life: Lifecycle,
  database: Knex,
  { config, clock, logger }: ConnectionsOptions,
): Promise<void> => {
  const keep = () => keepUsagePartitions(database, { nowMs: clock(), monthsKept: config.USAGE_RETENTION_MONTHS });
  for (let tries = 1; ; tries += 1) {
    try {
      await keep();
      break;
    } catch (error) {
      if (tries === START_TRIES_MAX) throw error;
      await sleep(START_RETRY_MS);
    }
  }
  const keeping = runPeriodically({
    name: 'usage partitions',
    intervalMs: PARTITION_INTERVAL_MS,
    run: keep,
    logger,
  });
  life.onStop('partitions', keeping.stop);
};

/** Opens the keys of stored values and of proofs. Throws MissingSecretKey if a stored value needs another key. */
export const openSecrets = async (
  database: Knex,
  { config, clock }: { readonly config: Config; readonly clock: () => number },
) => {
  const pepper = openSecretKeys('API_KEY_PEPPER', config.API_KEY_PEPPER);
  const proofs = openSigningKeys({
    secrets: openSecretKeys('PROVENANCE_KEY_SECRET', config.PROVENANCE_KEY_SECRET),
    database,
    purpose: 'provenance',
    typ: PROVENANCE_TYPE,
    clock,
  });
  const secrets = [keyDigestUse(pepper), proofs.use];
  await requireSecretKeys(database, secrets);
  return { pepper, proofs, secrets };
};
