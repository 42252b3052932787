import { fileURLToPath } from 'node:url';
import { connectPatiently, createDatabase, requireMigrations } from '@svc/database';
import {
  type Consumer,
  connectMessaging,
  inboxRoutes,
  outboxRoutes,
  readAgain,
  restoreRoutes,
  startRelay,
} from '@svc/messaging';
import {
  type Binding,
  createLogger,
  createMetrics,
  type Lifecycle,
  loadConfig,
  logStart,
  openTraces,
  runService,
  systemClock,
  watchCertificates,
} from '@svc/service-kit';
import { createApp } from './app.ts';
import { configSchema } from './config.ts';
import { startKeyNoticeConsumer, startNoticeConsumer } from './notices.ts';

const NAME = 'auth';
const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

const start = async (life: Lifecycle): Promise<void> => {
  const config = loadConfig(configSchema, process.env);
  const logger = createLogger({ service: NAME, level: config.LOG_LEVEL });
  life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
  logStart(logger, { schema: configSchema, config, environment: process.env });
  await openTraces(life, { service: NAME, config, logger });
  const metrics = createMetrics(NAME);
  const database = createDatabase(config.DATABASE_URL, {
    caFile: config.DATABASE_CA_FILE,
    poolMax: config.DATABASE_POOL_MAX,
    applicationName: 'svc-auth',
    metrics,
  });
  life.onStop('database', () => database.destroy());
  await connectPatiently(database, {
    url: config.DATABASE_URL,
    onWaiting: (err) => logger.warn({ err }, 'waiting for PostgreSQL'),
  });
  await requireMigrations(database, MIGRATIONS);
  const messaging = await connectMessaging({
    url: config.NATS_URL,
    caFile: config.NATS_CA_FILE,
    name: NAME,
    logger,
    metrics,
  });
  life.onStop('messaging', () => messaging.close());
  const relay = startRelay({
    databaseUrl: config.DATABASE_URL,
    databaseCaFile: config.DATABASE_CA_FILE,
    messaging,
    service: NAME,
  });
  life.onStop('relay', () => relay.stop());
  const consumers: Consumer[] = [];
  const operatorBindings: Binding[] = [
    ...outboxRoutes({ service: NAME, database, messaging, relay }),
    ...inboxRoutes({ service: NAME, database, messaging, consumers: () => consumers }),
    ...restoreRoutes({
      service: NAME,
      database,
      readAgain: () => readAgain(messaging, consumers),
      afterRestore: async ({ beganAt }, restoredTo) => ({
        reconciled: await app.afterRestore(restoredTo, beganAt),
        announced: 0,
        failed: [],
      }),
    }),
  ];
  const entrance = config.PUBLIC_BASE_URL;
  life.onStop('certificates', watchCertificates({ config, entrance, metrics, logger }).stop);
  const app = await createApp({
    config,
    database,
    relay,
    operatorBindings,
    clock: systemClock,
    logger,
    metrics,
    lifecycle: life,
  });
  life.onStop('application', () => app.stop());
  const noticeDeps = { ...app.notices, messaging };
  consumers.push(startNoticeConsumer(noticeDeps), startKeyNoticeConsumer(noticeDeps));
  life.onStop('consumers', async () => void (await Promise.all(consumers.map((consumer) => consumer.stop()))));
  await life.listen(app.internalApp, { port: config.INTERNAL_PORT, host: config.HOST, internal: true });
  const listener = await life.listen(app.publicApp, { port: config.PORT, host: config.HOST });
  logger.info({ port: listener.port }, 'listening');
};

runService({ name: NAME, start });
