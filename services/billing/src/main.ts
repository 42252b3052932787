import { createDatabase } from '@svc/database';
import {
  type Consumer,
  connectMessaging,
  inboxRoutes,
  openRevocations,
  outboxRoutes,
  startRelay,
} from '@svc/messaging';
import {
  createLogger,
  createMetrics,
  createTokenAuthenticators,
  type Lifecycle,
  loadConfig,
  openTraces,
  runPeriodically,
  runService,
  summarizeConfig,
} from '@svc/service-kit';
import { z } from 'zod';
import { createBillingApp } from './app.ts';
import { checkBalances } from './balances/index.ts';
import { billingConfigSchema, jwksUrlOf, planRulesOf } from './config.ts';
import { loadPlans, openPlanOffer } from './plans/index.ts';
import { startUsageConsumer } from './reservations/index.ts';

const NAME = 'billing';
/** Less than callers wait for an answer. Admission and settlement have a limit of their own, in the database. */
const LOCK_TIMEOUT_MS = 3_500;
/** The proof reads every reservation and entry there is. */
const CHECK_TIMEOUT_MS = 3_600_000;

const start = async (life: Lifecycle): Promise<void> => {
  const config = loadConfig(billingConfigSchema, process.env);
  const logger = createLogger({ service: NAME, level: config.LOG_LEVEL });
  life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
  logger.info({ settings: summarizeConfig(billingConfigSchema, config) }, 'starting');
  await openTraces(life, { service: NAME, config, logger });
  const plans = loadPlans(config.PLANS_FILE, planRulesOf(config));
  const metrics = createMetrics(NAME);
  const database = createDatabase(config.DATABASE_URL, {
    applicationName: NAME,
    poolMax: config.DATABASE_POOL_MAX,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  });
  life.onStop('database', () => database.destroy());
  const offer = await openPlanOffer(database, plans);
  const replicas = config.NATS_STREAM_REPLICAS;
  const messaging = await connectMessaging({ url: config.NATS_URL, name: NAME, replicas, logger, metrics });
  life.onStop('messaging', () => messaging.close());
  const relay = startRelay({ databaseUrl: config.DATABASE_URL, messaging, service: NAME });
  life.onStop('relay', () => relay.stop());
  const revocations = await openRevocations(messaging);
  life.onStop('revocations', () => revocations.stop());
  const authenticate = createTokenAuthenticators({
    publicBaseUrl: config.PUBLIC_BASE_URL,
    jwksUrl: jwksUrlOf(config),
    revocations,
    logger,
  });
  const consumers: Consumer[] = [];
  const operatorBindings = [
    ...outboxRoutes({ service: NAME, database, messaging, relay }),
    ...inboxRoutes({ service: NAME, database, messaging, consumers: () => consumers }),
  ];
  const app = createBillingApp({
    ...{ config, database, offer, relay, authenticate, operatorBindings, logger, metrics },
    lifecycle: life,
  });
  const consumer = startUsageConsumer({ ...app.settlement, messaging });
  consumers.push(consumer);
  life.onStop('usage consumer', () => consumer.stop());
  const intervalMs = config.SWEEP_INTERVAL_MS;
  const sweeping = runPeriodically({ name: 'sweep', intervalMs, run: app.sweep, logger });
  life.onStop('sweep', () => sweeping.stop());
  const ticking = runPeriodically({
    ...{ name: 'payments', intervalMs: app.paymentsIntervalMs, run: app.tickPayments, logger },
  });
  life.onStop('payments', () => ticking.stop());
  await life.listen(app.publicApp, { port: config.PORT, host: config.HOST });
  await life.listen(app.internalApp, { port: config.INTERNAL_PORT, host: config.HOST, internal: true });
  logger.info({ port: config.PORT }, 'ready');
};

/** `main.ts check-balances`: proves every running total; exit code 1 and a list where one is wrong. */
const checkTotals = async (): Promise<void> => {
  const { DATABASE_URL } = loadConfig(z.object({ DATABASE_URL: billingConfigSchema.shape.DATABASE_URL }), process.env);
  const database = createDatabase(DATABASE_URL, { applicationName: NAME, statementTimeoutMs: CHECK_TIMEOUT_MS });
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
