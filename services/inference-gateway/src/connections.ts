import { connectPatiently, createDatabase } from '@svc/database';
import {
  connectMessaging,
  type Messaging,
  openRevocations,
  type Relay,
  type RevocationView,
  startRelay,
} from '@svc/messaging';
import { type Lifecycle, type Logger, type Metrics, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { Config } from './config.ts';
import { keepUsagePartitions } from './usage-records/index.ts';

const PARTITION_INTERVAL_MS = 6 * 3_600_000;

/** Connections to the database and to NATS. */
export interface Connections {
  readonly database: Knex;
  readonly messaging: Messaging;
  readonly revocations: RevocationView;
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
  });
  life.onStop('database', () => database.destroy());
  await connectPatiently(database);
  await keepPartitions(life, database, options);
  const broker = { url: config.NATS_URL, caFile: config.NATS_CA_FILE };
  const messaging = await connectMessaging({ ...broker, name: service, logger, metrics });
  life.onStop('messaging', () => messaging.close());
  const revocations = await openRevocations(messaging);
  life.onStop('revocations', () => revocations.stop());
  const databaseCaFile = config.DATABASE_CA_FILE;
  const relay = startRelay({ databaseUrl: config.DATABASE_URL, databaseCaFile, messaging, service });
  life.onStop('relay', () => relay.stop());
  return { database, messaging, revocations, relay };
};

/** Creates the partitions before the first record is written, then maintains them periodically. */
const keepPartitions = async (
  life: Lifecycle,
  database: Knex,
  { config, clock, logger }: ConnectionsOptions,
): Promise<void> => {
  const keep = () => keepUsagePartitions(database, { nowMs: clock(), monthsKept: config.USAGE_RETENTION_MONTHS });
  await keep();
  const keeping = runPeriodically({
    name: 'usage partitions',
    intervalMs: PARTITION_INTERVAL_MS,
    run: keep,
    logger,
  });
  life.onStop('partitions', keeping.stop);
};
