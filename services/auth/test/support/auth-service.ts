import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { createInternalApp, createLogger, createMetrics, listen, loadConfig } from '@svc/service-kit';
import { freePort, internalCredentials, type TestDatabase, testDatabase } from '@svc/testing';
import type { Knex } from 'knex';
import { type Application, createApplication } from '../../src/app.ts';
import { type Config, configSchema } from '../../src/config.ts';

/** A moving clock: real time plus what a test adds. */
export interface ShiftedClock {
  (): Date;
  advanceMs: (milliseconds: number) => void;
}

/** The service on real sockets, with a database of its own. */
export interface AuthService {
  /** Base URL, which is also the issuer. */
  url: string;
  internalUrl: string;
  database: Knex;
  databaseUrl: string;
  environment: Record<string, string>;
  application: Application;
  clock: ShiftedClock;
  /** Everything that was logged, as text. */
  logs: () => string;
  /** Facts and revocations left in the outbox, oldest first. */
  outbox: (aggregate?: string) => Promise<OutboxRow[]>;
  stop: () => Promise<void>;
}

export interface OutboxRow {
  subject: string;
  aggregate: string;
  version: number;
  payload: Record<string, unknown>;
}

/** Starts the service; `environment` overrides its configuration. */
export const startAuthService = async (
  environment: Record<string, string> = {},
  hint: () => void = () => undefined,
  port?: number,
): Promise<AuthService> => {
  const testDb = await testDatabase({ migrations: fileURLToPath(new URL('../../migrations', import.meta.url)) });
  try {
    return await startOn(testDb, { environment, hint, port: port ?? (await freePort()) });
  } catch (error) {
    await testDb.drop();
    throw error;
  }
};

const startOn = async (
  testDb: TestDatabase,
  { environment, hint, port }: { environment: Record<string, string>; hint: () => void; port: number },
): Promise<AuthService> => {
  const url = `http://127.0.0.1:${port}`;
  const variables = {
    DATABASE_URL: testDb.url,
    NATS_URL: 'nats://127.0.0.1:1',
    PUBLIC_BASE_URL: url,
    INTERNAL_API_TOKENS: internalCredentials,
    AUTH_ENCRYPTION_KEY: '11'.repeat(32),
    RESPONSE_VALIDATION: 'true',
    LOG_LEVEL: 'debug',
    SIGN_UPS_PER_SOURCE_PER_HOUR: '100000',
    ...environment,
  };
  const config: Config = loadConfig(configSchema, variables);
  const lines: string[] = [];
  const logger = createLogger({
    service: 'auth',
    level: config.LOG_LEVEL,
    destination: { write: (line: string) => void lines.push(line) },
  });
  const metrics = createMetrics('auth');
  const clock = shiftedClock();
  const application = await createApplication({
    config,
    database: testDb.knex,
    hint,
    clock,
    logger,
    metrics,
  });
  const internalApp = createInternalApp({
    service: 'auth',
    bindings: application.internalBindings,
    tokens: config.INTERNAL_API_TOKENS,
    logger,
    metrics,
    ready: async () => ({ database: true }),
  });
  const publicListener = await listen(application.public, { port, host: '127.0.0.1' });
  const internalListener = await listen(internalApp, { port: 0, host: '127.0.0.1' });
  return {
    url,
    internalUrl: internalListener.url,
    database: testDb.knex,
    databaseUrl: testDb.url,
    environment: variables,
    application,
    clock,
    logs: () => lines.join(''),
    outbox: async (aggregate) => {
      const query = testDb.knex('outbox').orderBy('seq').select('subject', 'aggregate', 'version', 'payload');
      return aggregate === undefined ? await query : await query.where({ aggregate });
    },
    stop: async () => {
      await publicListener.drain(2_000);
      await internalListener.drain(2_000);
      await application.stop();
      await testDb.drop();
    },
  };
};

/** Another process on the same database, as after a restart; it does not listen. */
export const restartAuthService = async (
  service: AuthService,
  environment: Record<string, string> = {},
): Promise<Application> =>
  await createApplication({
    config: loadConfig(configSchema, { ...service.environment, ...environment }),
    database: service.database,
    hint: () => undefined,
    clock: service.clock,
    logger: createLogger({ service: 'auth', level: 'silent' }),
    metrics: createMetrics('auth'),
  });

/** Another process on the same database that serves beside the first one. */
export const startReplica = async (service: AuthService): Promise<{ url: string; stop: () => Promise<void> }> => {
  const application = await restartAuthService(service);
  const listener = await listen(application.public, { port: 0, host: '127.0.0.1' });
  return {
    url: listener.url,
    stop: async () => {
      await listener.drain(2_000);
      await application.stop();
    },
  };
};

const shiftedClock = (): ShiftedClock => {
  let offsetMs = 0;
  return Object.assign(() => new Date(Date.now() + offsetMs), {
    advanceMs: (milliseconds: number) => {
      offsetMs += milliseconds;
    },
  });
};

/** An address that no other test uses. */
export const newEmail = (): string => `${newId('usr')}@example.com`;
