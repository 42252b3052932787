import { createLogger, loadConfig, logStart, openTraces, runService } from '@svc/service-kit';
import { startApp } from './app.ts';
import { configSchema } from './config.ts';
import { providerKeysFrom } from './provider-routes/index.ts';

runService({
  name: 'inference-gateway',
  start: async (life) => {
    const config = loadConfig(configSchema, process.env);
    const logger = createLogger({ service: 'inference-gateway', level: config.LOG_LEVEL });
    life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
    logStart(logger, { schema: configSchema, config, environment: process.env });
    if (config.UPSTREAM_TOTAL_TIMEOUT_MS >= config.SHUTDOWN_GRACE_MS) {
      const fields = { timeout_ms: config.UPSTREAM_TOTAL_TIMEOUT_MS, limit: config.SHUTDOWN_GRACE_MS };
      logger.warn(fields, 'a stop may cut streams off: UPSTREAM_TOTAL_TIMEOUT_MS is not below SHUTDOWN_GRACE_MS');
    }
    await openTraces(life, { service: 'inference-gateway', config, logger });
    const app = await startApp(life, { config, logger, providerKey: providerKeysFrom(process.env), clock: Date.now });
    process.on('SIGHUP', () => void app.routes.reload());
    logger.info({ host: app.url }, 'listening');
  },
});
