import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { openSecretKeys } from '@svc/secrets';
import { type Clock, createLogger, createMetrics, listen, loadConfig, type Metrics } from '@svc/service-kit';
import { freePort, internalCredential, internalCredentials } from '@svc/testing';
import type { Knex } from 'knex';
import { type App, createApp } from '../../src/app.ts';
import { type Config, configSchema } from '../../src/config.ts';
import { type AppDeps, openSecrets } from '../../src/slice-deps.ts';

/** A moving clock: real time plus what a test adds. */
export interface ShiftedClock {
  (): Date;
  readonly advanceMs: (milliseconds: number) => void;
}

/** The service on real sockets, with a separate database. */
export interface AuthService {
  /** Base URL, which is also the issuer. */
  readonly url: string;
  readonly internalUrl: string;
  readonly database: Knex;
  readonly databaseUrl: string;
  readonly environment: Record<string, string>;
  readonly application: App;
  readonly clock: ShiftedClock;
  readonly metrics: Metrics;
  /** Everything that was logged, as text. */
  readonly logs: () => string;
  /** Facts and revocations left in the outbox, oldest first. */
  readonly outbox: (aggregate?: string) => Promise<OutboxRow[]>;
  readonly stop: () => Promise<void>;
}

export interface OutboxRow {
  readonly subject: string;
  readonly aggregate: string;
  readonly version: number;
  readonly payload: Record<string, unknown>;
}

/** Starts the service; `environment` overrides its configuration. */
export const startAuthService = async (
  environment: Record<string, string> = {},
  hint: () => void = () => undefined,
  port?: number,
  parts: Pick<AppDeps, 'proveDomain'> = {},
): Promise<AuthService> => {
  const testDb = await testDatabase({ migrations: fileURLToPath(new URL('../../migrations', import.meta.url)) });
  try {
    return await startOn(testDb, { environment, hint, port: port ?? (await freePort()), parts });
  } catch (error) {
    await testDb.drop();
    throw error;
  }
};

interface StartChoices {
  readonly environment: Record<string, string>;
  readonly hint: () => void;
  readonly port: number;
  readonly parts: Pick<AppDeps, 'proveDomain'>;
}

const startOn = async (
  testDb: TestDatabase,
  { environment, hint, port, parts }: StartChoices,
): Promise<AuthService> => {
  const url = `http://127.0.0.1:${port}`;
  const variables = {
    DATABASE_URL: testDb.url,
    NATS_URL: 'nats://127.0.0.1:1',
    PUBLIC_BASE_URL: url,
    INTERNAL_API_TOKENS: internalCredentials,
    INTERNAL_API_TOKEN: internalCredential('auth'),
    BILLING_INTERNAL_URL: 'http://127.0.0.1:1',
    INFERENCE_GATEWAY_INTERNAL_URL: 'http://127.0.0.1:1',
    WEBHOOK_DISPATCHER_INTERNAL_URL: 'http://127.0.0.1:1',
    AUTH_ENCRYPTION_KEY: '11'.repeat(32),
    RESPONSE_VALIDATION: 'true',
    LOG_LEVEL: 'debug',
    SIGN_UPS_PER_SOURCE_PER_HOUR: '100000',
    MAIL_URL: 'smtp://127.0.0.1:1',
    EMAIL_VERIFICATION: 'optional',
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
  const application = await createApp({
    config,
    database: testDb.knex,
    relay: { hint },
    operatorBindings: [],
    clock,
    logger,
    metrics,
    ...parts,
  });
  const publicListener = await listen(application.publicApp, { port, host: '127.0.0.1' });
  const internalListener = await listen(application.internalApp, { port: 0, host: '127.0.0.1' });
  return {
    url,
    internalUrl: internalListener.url,
    database: testDb.knex,
    databaseUrl: testDb.url,
    environment: variables,
    application,
    clock,
    metrics,
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
  service: Pick<AuthService, 'environment' | 'database'> & { readonly clock: Clock },
  environment: Record<string, string> = {},
  parts: Pick<AppDeps, 'proveDomain'> = {},
): Promise<App> =>
  await createApp({
    config: loadConfig(configSchema, { ...service.environment, ...environment }),
    database: service.database,
    relay: { hint: () => undefined },
    operatorBindings: [],
    clock: service.clock,
    logger: createLogger({ service: 'auth', level: 'silent' }),
    metrics: createMetrics('auth'),
    ...parts,
  });

/** Another process on the same database that serves beside the first one. */
export const startReplica = async (
  service: AuthService,
  { clock = service.clock, environment = {} }: { clock?: Clock; environment?: Record<string, string> } = {},
): Promise<{ url: string; internalUrl: string; stop: () => Promise<void> }> => {
  const application = await restartAuthService({ ...service, clock }, environment);
  const listener = await listen(application.publicApp, { port: 0, host: '127.0.0.1' });
  const internalListener = await listen(application.internalApp, { port: 0, host: '127.0.0.1' });
  return {
    url: listener.url,
    internalUrl: internalListener.url,
    stop: async () => {
      await listener.drain(2_000);
      await internalListener.drain(2_000);
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

/** The sealer of waiting mails, with the key of `startAuthService`. */
export const mailSealer = openSecrets(openSecretKeys('AUTH_ENCRYPTION_KEY', ['11'.repeat(32)])).mailSealer;

/** An address that no other test uses. */
export const newEmail = (): string => `${newId('usr')}@example.com`;
