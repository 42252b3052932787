import { fileURLToPath } from 'node:url';
import { connectPatiently, createDatabase, requireMigrations } from '@svc/database';
import { connectMessaging } from '@svc/messaging';
import {
  createLogger,
  createMetrics,
  type Lifecycle,
  loadConfig,
  logStart,
  openTraces,
  runService,
  watchCertificates,
} from '@svc/service-kit';
import { createApp } from './app.ts';
import { configSchema } from './config.ts';

const NAME = 'webhook-dispatcher';
const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

const start = async (life: Lifecycle): Promise<void> => {
  const config = loadConfig(configSchema, process.env);
  const logger = createLogger({ service: NAME, level: config.LOG_LEVEL });
  life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
  logStart(logger, { schema: configSchema, config, environment: process.env });
  await openTraces(life, { service: NAME, config, logger });
  const metrics = createMetrics(NAME);
  const database = createDatabase(config.DATABASE_URL, {
    applicationName: NAME,
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
  const broker = { url: config.NATS_URL, caFile: config.NATS_CA_FILE };
  const messaging = await connectMessaging({ ...broker, name: NAME, logger, metrics });
  life.onStop('messaging', () => messaging.close());
  life.onStop('certificates', watchCertificates({ config, metrics, logger }).stop);
  const app = await createApp({ config, database, messaging, logger, metrics, life });
  await life.listen(app.publicApp, { port: config.PORT, host: config.HOST });
  await life.listen(app.internalApp, { port: config.INTERNAL_PORT, host: config.HOST, internal: true });
  logger.info({ port: config.PORT }, 'ready');
};

runService({ name: NAME, start });
