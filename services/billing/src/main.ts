import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectPatiently, createDatabase, requireMigrations } from '@svc/database';
import {
  authSource,
  type Consumer,
  connectMessaging,
  inboxRoutes,
  openRevocations,
  outboxRoutes,
  readAgain,
  startRelay,
} from '@svc/messaging';
import {
  createInternalClient,
  createLogger,
  createMetrics,
  createTokenAuthenticators,
  databaseSettings,
  type Lifecycle,
  loadConfig,
  logStart,
  openTraces,
  runService,
  watchCertificates,
} from '@svc/service-kit';
import { z } from 'zod';
import { createApp } from './app.ts';
import { startBackgroundWork } from './background-work.ts';
import { checkBalances } from './balances.ts';
import { configSchema, jwksUrlOf, planRulesOf } from './config.ts';
import { createLeaseRecalls } from './leases/index.ts';
import { loadPlans, openPlanOffer } from './plans.ts';
import { keepRequestPartitions } from './reservations/keep-request-partitions.ts';

const NAME = 'billing';
const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
/** Below the timeout of callers. The SQL functions of admission and settlement set their own, lower limit. */
const LOCK_TIMEOUT_MS = 3_500;
const AUTH_TIMEOUT_MS = 1_000;
const START_TRIES_MAX = 20;
const START_RETRY_MS = 500;
/** The check reads all reservations and entries. */
const CHECK_TIMEOUT_MS = 3_600_000;

const start = async (life: Lifecycle): Promise<void> => {
  const config = loadConfig(configSchema, process.env);
  const logger = createLogger({ service: NAME, level: config.LOG_LEVEL });
  life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
  logStart(logger, { schema: configSchema, config, environment: process.env });
  await openTraces(life, { service: NAME, config, logger });
  const plans = loadPlans(config.PLANS_FILE, planRulesOf(config));
  const metrics = createMetrics(NAME);
  const database = createDatabase(config.DATABASE_URL, {
    applicationName: NAME,
    caFile: config.DATABASE_CA_FILE,
    poolMax: config.DATABASE_POOL_MAX,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    metrics,
  });
  life.onStop('database', () => database.destroy());
  await connectPatiently(database, {
    url: config.DATABASE_URL,
    onWaiting: (err) => logger.warn({ err }, 'waiting for PostgreSQL'),
  });
  await requireMigrations(database, MIGRATIONS);
  const keepPartitions = () =>
    keepRequestPartitions(database, { nowMs: Date.now(), daysKept: config.REQUEST_RETENTION_DAYS });
  await retryAtStart(keepPartitions);
  const offer = await openPlanOffer(database, plans);
  const broker = { url: config.NATS_URL, caFile: config.NATS_CA_FILE };
  const messaging = await connectMessaging({ ...broker, name: NAME, logger, metrics });
  life.onStop('messaging', () => messaging.close());
  const databaseCaFile = config.DATABASE_CA_FILE;
  const relay = startRelay({ databaseUrl: config.DATABASE_URL, databaseCaFile, messaging, service: NAME });
  life.onStop('relay', () => relay.stop());
  const auth = createInternalClient({
    baseUrl: config.AUTH_INTERNAL_URL,
    token: config.INTERNAL_API_TOKEN,
    timeoutMs: AUTH_TIMEOUT_MS,
  });
  life.onStop('auth client', auth.close);
  const revocations = await openRevocations(messaging, { sources: [authSource(auth)] });
  life.onStop('revocations', () => revocations.stop());
  const consumers: Consumer[] = [];
  const leaseRecalls = createLeaseRecalls({ token: config.INTERNAL_API_TOKEN, logger });
  life.onStop('recalls of leases', leaseRecalls.close);
  life.onStop('certificates', watchCertificates({ config, metrics, logger }).stop);
  const app = await createApp({
    recallLeases: leaseRecalls.recall,
    config,
    database,
    offer,
    relay,
    auth,
    logger,
    metrics,
    authenticate: createTokenAuthenticators({
      publicBaseUrl: config.PUBLIC_BASE_URL,
      jwksUrl: jwksUrlOf(config),
      revocations,
      auth,
      logger,
    }),
    operatorBindings: [
      ...outboxRoutes({ service: NAME, database, messaging, relay }),
      ...inboxRoutes({ service: NAME, database, messaging, consumers: () => consumers }),
    ],
    readAgain: () => readAgain(messaging, consumers),
    lifecycle: life,
  });
  const sweepIntervalMs = config.SWEEP_INTERVAL_MS;
  consumers.push(...startBackgroundWork(life, app, { database, messaging, logger, sweepIntervalMs, keepPartitions }));
  await life.listen(app.publicApp, { port: config.PORT, host: config.HOST });
  await life.listen(app.internalApp, { port: config.INTERNAL_PORT, host: config.HOST, internal: true });
  logger.info({ port: config.PORT }, 'ready');
};

/** A long read, such as the export of an account, may keep partitions from being created for a while. */
const retryAtStart = async (work: () => Promise<void>): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === START_TRIES_MAX) throw error;
      await sleep(START_RETRY_MS);
    }
  }
};

/**
 * Runs `main.ts check-balances`: recomputes every running total. Lists discrepancies, and exits with code 1 if there
 * are any.
 */
const checkTotals = async (): Promise<void> => {
  const config = loadConfig(z.object(databaseSettings), process.env);
  const database = createDatabase(config.DATABASE_URL, {
    applicationName: NAME,
    caFile: config.DATABASE_CA_FILE,
    statementTimeoutMs: CHECK_TIMEOUT_MS,
  });
  try {
    const discrepancies = await checkBalances(database);
    for (const { total, subject, recorded, derived } of discrepancies) {
      console.log(`${total} of ${subject}: recorded ${recorded}, derived ${derived}`);
    }
    console.log(discrepancies.length === 0 ? 'billing: all balances are proven' : 'billing: balances are WRONG');
    process.exitCode = discrepancies.length === 0 ? 0 : 1;
  } finally {
    await database.destroy();
  }
};

if (process.argv[2] === 'check-balances') await checkTotals();
else runService({ name: NAME, start });
