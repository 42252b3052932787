import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@svc/contracts';
import { provision } from '@svc/database';
import { freePort, scratchDirectory, startNats, startPostgres } from '@svc/embedded-servers';
import { bundleService } from './bundle-service.ts';
import { type Launch, type NodeProcess, startNode } from './node-process.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const CONNECTIONS_MAX = 250;

/** A service under measurement, in a process of its own. */
export interface RunningService {
  readonly url: string;
  readonly internalUrl: string;
  readonly databaseUrl: string;
  readonly process: NodeProcess;
}

/** How a service is started, apart from its settings. */
export interface ServiceLaunch extends Launch {
  /** Runs the bundle that is deployed, made anew, instead of the source. */
  readonly isBundled?: boolean;
}

/** The servers and services of one measurement, all of them its own. */
export interface Stack {
  readonly natsUrl: string;
  /** The service credential that all of them accept. */
  readonly internalToken: string;
  /** A file of the local stack's example configuration. */
  example(file: 'plans.yaml' | 'routes.yaml'): string;
  /** A path for a file that lives as long as the stack. */
  scratchFile(name: string): string;
  /** Migrates a service's database, starts the service and waits until it is ready. */
  start(service: ServiceName, env?: Readonly<Record<string, string>>, launch?: ServiceLaunch): Promise<RunningService>;
  /** Starts any other script that belongs to the measurement. */
  startScript(script: string, env?: Readonly<Record<string, string>>, launch?: Launch): Promise<NodeProcess>;
  /** Stops everything, the newest first. */
  stop(): Promise<void>;
}

/** Starts PostgreSQL and NATS in a scratch directory, both syncing to disk as in production. */
export const startStack = async (flags: Readonly<Record<string, string>> = {}): Promise<Stack> => {
  const scratch = await scratchDirectory();
  const stops: (() => Promise<unknown>)[] = [async () => scratch.remove()];
  const stop = async () => {
    for (const stopOne of stops.splice(0).reverse()) await stopOne();
  };
  stopOnSignal(stop);
  const postgres = await startPostgres({
    dataDir: join(scratch.path, 'postgres'),
    ...{ user: 'bench', password: randomBytes(16).toString('hex') },
    flags: { max_connections: String(CONNECTIONS_MAX), ...flags },
  });
  stops.push(postgres.stop);
  const nats = await startNats({ storeDir: join(scratch.path, 'nats') });
  stops.push(nats.stop);
  const internalToken = randomBytes(24).toString('hex');
  let started = 0;
  const startScript: Stack['startScript'] = async (script, env = {}, launch = {}) => {
    started += 1;
    const child = await startNode(script, env, { ...launch, logFile: join(scratch.path, `${started}.log`) });
    stops.push(child.stop);
    return child;
  };
  return {
    natsUrl: nats.url,
    internalToken,
    example: (file) => join(ROOT, 'infra', 'local', 'config', file),
    scratchFile: (name) => join(scratch.path, name),
    startScript,
    stop,
    start: async (service, env = {}, { isBundled = false, ...launch } = {}) => {
      const password = randomBytes(16).toString('hex');
      const databaseUrl = await provision({ adminUrl: postgres.url, service, password });
      const source = join(ROOT, 'services', service, 'src');
      await (await startScript(join(source, 'migrate.ts'), { DATABASE_URL: databaseUrl })).succeed();
      const [port, internalPort] = [await freePort(), await freePort()];
      const url = `http://127.0.0.1:${port}`;
      const internalUrl = `http://127.0.0.1:${internalPort}`;
      const main = isBundled ? bundleService(join(ROOT, 'services', service)) : join(source, 'main.ts');
      const settings = {
        ...{ DATABASE_URL: databaseUrl, NATS_URL: nats.url, PUBLIC_BASE_URL: url },
        ...{ PORT: String(port), INTERNAL_PORT: String(internalPort), INTERNAL_API_TOKENS: internalToken },
        // As in production.
        ...{ LOG_LEVEL: 'info', SHUTDOWN_GRACE_MS: '2000' },
        ...env,
      };
      const own = await startScript(main, settings, launch);
      await own.ready(`${internalUrl}/readyz`);
      return { url, internalUrl, databaseUrl, process: own };
    },
  };
};

const stopOnSignal = (stop: () => Promise<void>): void => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stop().finally(() => process.exit(130));
    });
  }
};
