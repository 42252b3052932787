import { connectPatiently, createDatabase, isConnectionFailure } from '@svc/database';
import { connectMessaging, outboxRoutes, startRelay } from '@svc/messaging';
import {
  createInternalApp,
  createLogger,
  createMetrics,
  loadConfig,
  openTraces,
  runService,
  summarizeConfig,
} from '@svc/service-kit';
import { createApplication } from './app.ts';
import { configSchema } from './config.ts';

runService({
  name: 'auth',
  start: async (life) => {
    const config = loadConfig(configSchema, process.env);
    const logger = createLogger({ service: 'auth', level: config.LOG_LEVEL });
    life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
    logger.info({ settings: summarizeConfig(configSchema, config) }, 'starting');
    await openTraces(life, { service: 'auth', config, logger });
    const metrics = createMetrics('auth');

    const database = createDatabase(config.DATABASE_URL, {
      caFile: config.DATABASE_CA_FILE,
      poolMax: config.DATABASE_POOL_MAX,
      applicationName: 'svc-auth',
    });
    life.onStop('database', () => database.destroy());
    await connectPatiently(database);
    const messaging = await connectMessaging({
      url: config.NATS_URL,
      caFile: config.NATS_CA_FILE,
      name: 'auth',
      logger,
      metrics,
    });
    life.onStop('messaging', () => messaging.close());
    const relay = startRelay({
      databaseUrl: config.DATABASE_URL,
      databaseCaFile: config.DATABASE_CA_FILE,
      messaging,
      service: 'auth',
    });
    life.onStop('relay', () => relay.stop());

    const clock = (): Date => new Date();
    const application = await createApplication({ config, database, hint: relay.hint, clock, logger, metrics });
    life.onStop('application', () => application.stop());

    await life.listen(
      createInternalApp({
        service: 'auth',
        bindings: [...application.internalBindings, ...outboxRoutes({ service: 'auth', database, messaging, relay })],
        tokens: config.INTERNAL_API_TOKENS,
        logger,
        metrics,
        isUnavailable: isConnectionFailure,
        ready: async () => ({ database: await canQuery(() => database.raw('SELECT 1')) }),
        lifecycle: life,
      }),
      { port: config.INTERNAL_PORT, host: config.HOST, internal: true },
    );
    const listener = await life.listen(application.public, { port: config.PORT, host: config.HOST });
    logger.info({ port: listener.port }, 'listening');
  },
});

const canQuery = async (query: () => PromiseLike<unknown>): Promise<boolean> => {
  try {
    await query();
    return true;
  } catch {
    return false;
  }
};
