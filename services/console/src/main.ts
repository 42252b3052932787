import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createLogger, createMetrics, type Lifecycle, loadConfig, logStart, runService } from '@svc/service-kit';
import { configSchema } from './config.ts';
import { createAssetStore, createInternalHandler, createPublicPages, createWebHandler } from './server/index.ts';

const NAME = 'console';
/** Beside the bundled server in production, in `dist/` beside the sources in development. */
const DIRECTORIES = ['../web', '../dist/web'];

const findDirectory = (): string => {
  const [bundled = '', development = ''] = DIRECTORIES.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return existsSync(bundled) ? bundled : development;
};

const start = async (life: Lifecycle): Promise<void> => {
  const config = loadConfig(configSchema, process.env);
  const logger = createLogger({ service: NAME, level: config.LOG_LEVEL });
  life.configure({ logger, shutdownGraceMs: config.SHUTDOWN_GRACE_MS, shutdownDelayMs: config.SHUTDOWN_DELAY_MS });
  logStart(logger, { schema: configSchema, config, environment: process.env });
  const metrics = createMetrics(NAME);
  const assets = createAssetStore(findDirectory());
  const isHttps = config.PUBLIC_BASE_URL.startsWith('https:');
  const publication = { termsUrl: config.TERMS_URL, privacyUrl: config.PRIVACY_URL };
  const findPublicPage = createPublicPages(publication, { isHttps });
  const web = createWebHandler({
    assets,
    logger,
    metrics,
    isHttps,
    findPublicPage,
    sampleAppUrl: config.SAMPLE_APP_URL,
  });
  await life.listen(web, { port: config.PORT, host: config.HOST });
  const internal = createInternalHandler({ assets, metrics, life });
  await life.listen(internal, { port: config.INTERNAL_PORT, host: config.HOST, internal: true });
  if (!(await assets.isBuilt())) logger.warn('the pages are not built: run `npx pnpm --filter @svc/console build`');
  logger.info({ port: config.PORT }, 'ready');
};

runService({ name: NAME, start });
