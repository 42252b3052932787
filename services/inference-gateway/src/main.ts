import { createLogger, loadConfig, openTraces, runService, summarizeConfig } from '@svc/service-kit';
import { startApp } from './app.ts';
import { configSchema } from './config.ts';
import { providerKeysFrom } from './routes/index.ts';

runService({
  name: 'inference-gateway',
  start: async (life) => {
    const config = loadConfig(configSchema, process.env);
    const logger = createLogger({ service: 'inference-gateway', level: config.LOG_LEVEL });
    life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
    logger.info({ settings: summarizeConfig(configSchema, config) }, 'starting');
    await openTraces(life, { service: 'inference-gateway', config, logger });
    const app = await startApp(life, { config, logger, providerKey: providerKeysFrom(process.env), clock: Date.now });
    process.on('SIGHUP', () => void app.routes.reload());
    logger.info({ host: app.url }, 'listening');
  },
});
