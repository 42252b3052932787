import { connectPatiently, createDatabase } from '@svc/database';
import {
  type Consumer,
  connectMessaging,
  inboxRoutes,
  type Messaging,
  openRevocations,
  outboxRoutes,
  readAgain,
  startRelay,
} from '@svc/messaging';
import {
  createLogger,
  createMetrics,
  createTokenAuthenticators,
  databaseSettings,
  type Lifecycle,
  type Logger,
  loadConfig,
  openTraces,
  runPeriodically,
  runService,
  summarizeConfig,
} from '@svc/service-kit';
import { z } from 'zod';
import { type App, createApp } from './app.ts';
import { checkBalances } from './balances/index.ts';
import { configSchema, jwksUrlOf, planRulesOf } from './config.ts';
import { startEndingConsumer } from './endings/index.ts';
import { HOLDER_SWEEP_INTERVAL_MS } from './holders/index.ts';
import { loadPlans, openPlanOffer } from './plans/index.ts';
import { startUsageConsumer } from './reservations/index.ts';

const NAME = 'billing';
/** Below the timeout of callers. The SQL functions of admission and settlement set their own, lower limit. */
const LOCK_TIMEOUT_MS = 3_500;
/** The check reads all reservations and entries. */
const CHECK_TIMEOUT_MS = 3_600_000;

const start = async (life: Lifecycle): Promise<void> => {
  const config = loadConfig(configSchema, process.env);
  const logger = createLogger({ service: NAME, level: config.LOG_LEVEL });
  life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
  logger.info({ settings: summarizeConfig(configSchema, config) }, 'starting');
  await openTraces(life, { service: NAME, config, logger });
  const plans = loadPlans(config.PLANS_FILE, planRulesOf(config));
  const metrics = createMetrics(NAME);
  const database = createDatabase(config.DATABASE_URL, {
    applicationName: NAME,
    caFile: config.DATABASE_CA_FILE,
    poolMax: config.DATABASE_POOL_MAX,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  });
  life.onStop('database', () => database.destroy());
  await connectPatiently(database);
  const offer = await openPlanOffer(database, plans);
  const broker = { url: config.NATS_URL, caFile: config.NATS_CA_FILE };
  const messaging = await connectMessaging({ ...broker, name: NAME, logger, metrics });
  life.onStop('messaging', () => messaging.close());
  const databaseCaFile = config.DATABASE_CA_FILE;
  const relay = startRelay({ databaseUrl: config.DATABASE_URL, databaseCaFile, messaging, service: NAME });
  life.onStop('relay', () => relay.stop());
  const revocations = await openRevocations(messaging);
  life.onStop('revocations', () => revocations.stop());
  const consumers: Consumer[] = [];
  const app = await createApp({
    config,
    database,
    offer,
    relay,
    logger,
    metrics,
    authenticate: createTokenAuthenticators({
      publicBaseUrl: config.PUBLIC_BASE_URL,
      jwksUrl: jwksUrlOf(config),
      revocations,
      logger,
    }),
    operatorBindings: [
      ...outboxRoutes({ service: NAME, database, messaging, relay }),
      ...inboxRoutes({ service: NAME, database, messaging, consumers: () => consumers }),
    ],
    readAgain: () => readAgain(messaging, consumers),
    lifecycle: life,
  });
  consumers.push(startConsumer(life, app, messaging), startEndings(life, { database, messaging }));
  startPeriodicWork(life, app, { logger, sweepIntervalMs: config.SWEEP_INTERVAL_MS });
  await life.listen(app.publicApp, { port: config.PORT, host: config.HOST });
  await life.listen(app.internalApp, { port: config.INTERNAL_PORT, host: config.HOST, internal: true });
  logger.info({ port: config.PORT }, 'ready');
};

const startConsumer = (life: Lifecycle, { settlement }: App, messaging: Messaging): Consumer => {
  const consumer = startUsageConsumer({ ...settlement, messaging });
  life.onStop('usage consumer', () => consumer.stop());
  return consumer;
};

const startEndings = (life: Lifecycle, deps: Parameters<typeof startEndingConsumer>[0]): Consumer => {
  const consumer = startEndingConsumer(deps);
  life.onStop('consumer of account endings', () => consumer.stop());
  return consumer;
};

const startPeriodicWork = (
  life: Lifecycle,
  { sweep, sweepHolders, tickPayments, paymentsIntervalMs, topUpWallets }: App,
  { logger, sweepIntervalMs }: { readonly logger: Logger; readonly sweepIntervalMs: number },
): void => {
  const sweeping = runPeriodically({ name: 'sweep', intervalMs: sweepIntervalMs, run: sweep, logger });
  life.onStop('sweep', () => sweeping.stop());
  const watching = runPeriodically({
    name: 'holders',
    intervalMs: HOLDER_SWEEP_INTERVAL_MS,
    run: sweepHolders,
    logger,
  });
  life.onStop('holders', () => watching.stop());
  const ticking = runPeriodically({ name: 'payments', intervalMs: paymentsIntervalMs, run: tickPayments, logger });
  life.onStop('payments', () => ticking.stop());
  const toppingUp = runPeriodically({
    name: 'automatic top-ups',
    intervalMs: sweepIntervalMs,
    run: topUpWallets,
    logger,
  });
  life.onStop('automatic top-ups', () => toppingUp.stop());
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
