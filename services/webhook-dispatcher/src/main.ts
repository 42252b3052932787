import { createDatabase } from '@svc/database';
import { connectMessaging } from '@svc/messaging';
import {
  createLogger,
  createMetrics,
  type Lifecycle,
  loadConfig,
  openTraces,
  runService,
  summarizeConfig,
} from '@svc/service-kit';
import { createApp } from './app.ts';
import { configSchema } from './config.ts';

const NAME = 'webhook-dispatcher';

const start = async (life: Lifecycle): Promise<void> => {
  const config = loadConfig(configSchema, process.env);
  const logger = createLogger({ service: NAME, level: config.LOG_LEVEL });
  life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
  logger.info({ settings: summarizeConfig(configSchema, config) }, 'starting');
  await openTraces(life, { service: NAME, config, logger });
  const metrics = createMetrics(NAME);
  const database = createDatabase(config.DATABASE_URL, {
    applicationName: NAME,
    caFile: config.DATABASE_CA_FILE,
    poolMax: config.DATABASE_POOL_MAX,
  });
  life.onStop('database', () => database.destroy());
  const broker = { url: config.NATS_URL, caFile: config.NATS_CA_FILE };
  const messaging = await connectMessaging({ ...broker, name: NAME, logger, metrics });
  life.onStop('messaging', () => messaging.close());
  const app = await createApp({ config, database, messaging, logger, metrics, life });
  await life.listen(app.publicApp, { port: config.PORT, host: config.HOST });
  await life.listen(app.internalApp, { port: config.INTERNAL_PORT, host: config.HOST, internal: true });
  logger.info({ port: config.PORT }, 'ready');
};

runService({ name: NAME, start });
