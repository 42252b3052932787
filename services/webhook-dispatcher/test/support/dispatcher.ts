import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { createDatabase } from '@svc/database';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import type { Lookup } from '@svc/destinations';
import { connectMessaging, type EventOf, type EventSubject, type Messaging } from '@svc/messaging';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { openSecretKeys } from '@svc/secrets';
import { createLifecycle, createLogger, createMetrics, type Logger, loadConfig, type Metrics } from '@svc/service-kit';
import {
  createTestAuthority,
  internalCredentials,
  type TestAuthority,
  type TestTokens,
  testTokens,
} from '@svc/testing';
import type { Knex } from 'knex';
import { createApp } from '../../src/app.ts';
import { configSchema } from '../../src/config.ts';
import { storeEvents } from '../../src/events/index.ts';
import { createSecretBox, newSigningSecret } from '../../src/signatures.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { SERVICE_TOKEN, type StandIns, startStandIns } from './stand-ins.ts';

/** The directory of this service's migrations. */
export const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Surroundings of a dispatcher: real servers and stand-ins. */
export interface World {
  readonly database: TestDatabase;
  readonly nats: TestNats;
  /** Connection of the operator's user, which may publish any fact. */
  readonly operator: Messaging;
  readonly tokens: TestTokens;
  readonly standIns: StandIns;
  readonly authority: TestAuthority;
  readonly receiver: Receiver;
  /** Log lines of all dispatchers. */
  readonly logs: string[];
  readonly stop: () => Promise<void>;
}

/** Starts the surroundings, with one receiver named `localhost`. */
export const startWorld = async (): Promise<World> => {
  const [database, nats, tokens, standIns, authority] = await Promise.all([
    testDatabase({ migrations: MIGRATIONS }),
    testNats(),
    testTokens(),
    startStandIns(),
    createTestAuthority(),
  ]);
  const receiver = await startReceiver(await authority.issue({ names: ['localhost'], addresses: ['127.0.0.1'] }));
  const logger = createLogger({ service: 'webhook-dispatcher', level: 'silent' });
  const operator = await connectMessaging({ url: nats.url, name: 'operator', logger });
  const world = { database, nats, operator, tokens, standIns, authority, receiver, logs: [] };
  return Object.assign(world, {
    stop: async () => {
      await operator.close();
      await Promise.all([receiver.stop(), standIns.stop(), tokens.stop(), nats.stop(), database.drop()]);
      authority.remove();
    },
  });
};

export interface Dispatcher {
  readonly url: string;
  readonly internalUrl: string;
  readonly database: Knex;
  readonly messaging: Messaging;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stop: () => Promise<void>;
}

/** Returns the environment of a dispatcher in this world. */
export const environmentOf = (world: World): Record<string, string> => ({
  PORT: '0',
  INTERNAL_PORT: '0',
  DATABASE_URL: world.database.url,
  NATS_URL: world.nats.urlOf('webhook-dispatcher'),
  PUBLIC_BASE_URL: world.tokens.publicBaseUrl,
  INTERNAL_API_TOKENS: internalCredentials,
  INTERNAL_API_TOKEN: SERVICE_TOKEN,
  AUTH_INTERNAL_URL: world.standIns.url,
  BILLING_INTERNAL_URL: world.standIns.url,
  JWKS_URL: world.tokens.jwksUrl,
  WEBHOOK_ENCRYPTION_KEY: `first:${Buffer.alloc(32, 7).toString('base64')}`,
  WEBHOOK_ALLOW_TARGETS: `localhost:${world.receiver.port}`,
  WEBHOOK_EXTRA_CA_FILE: world.authority.caFile,
  WEBHOOK_BACKOFF_BASE_MS: '20',
  RESPONSE_VALIDATION: 'true',
  LOG_LEVEL: 'debug',
});

/** Starts a dispatcher in this process, as `main.ts` does. */
export const startDispatcher = async (
  world: World,
  choices: { env?: Record<string, string>; lookup?: Lookup } = {},
): Promise<Dispatcher> => {
  const config = loadConfig(configSchema, { ...environmentOf(world), ...choices.env });
  const destination = { write: (line: string) => world.logs.push(line) };
  const logger = createLogger({ service: 'webhook-dispatcher', level: config.LOG_LEVEL, destination });
  const metrics = createMetrics('webhook-dispatcher');
  const life = createLifecycle({ logger, shutdownGraceMs: 5_000 });
  const database = createDatabase(config.DATABASE_URL, { applicationName: 'dispatcher', poolMax: 8 });
  life.onStop('database', () => database.destroy());
  const messaging = await connectMessaging({ url: config.NATS_URL, name: 'webhook-dispatcher', logger, metrics });
  life.onStop('messaging', () => messaging.close());
  const starting = createApp({ config, database, messaging, logger, metrics, life, lookup: choices.lookup });
  const app = await starting.catch(async (error: unknown) => {
    await life.stop();
    throw error;
  });
  const listener = await life.listen(app.publicApp, { port: 0, host: '127.0.0.1' });
  const internal = await life.listen(app.internalApp, { port: 0, host: '127.0.0.1', internal: true });
  const stop = async () => {
    await life.stop();
  };
  return { url: listener.url, internalUrl: internal.url, database, messaging, logger, metrics, stop };
};

/** A business with an app. */
export interface Owner {
  readonly userId: string;
  readonly clientId: string;
  readonly token: string;
}

/** Registers an app with the stand-in for auth. */
export const newOwner = async (world: World): Promise<Owner> => {
  const userId = newId('usr');
  const clientId = newId('app');
  world.standIns.owners.set(clientId, userId);
  return { userId, clientId, token: await world.tokens.consoleSession({ userId, accountType: 'business' }) };
};

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes.
  readonly body: any;
  readonly headers: Headers;
}

/** Inserts `count` configured apps with this receiver and returns their client ids. */
export const seedApps = async (world: World, count: number, url = world.receiver.url): Promise<string[]> => {
  const secretBox = createSecretBox(openSecretKeys('KEYS', [environmentOf(world)['WEBHOOK_ENCRYPTION_KEY'] ?? '']));
  const clientIds = Array.from({ length: count }, () => newId('app'));
  const rows = clientIds.map((clientId) => {
    const sealed = secretBox.seal(newSigningSecret(), { ownerId: clientId, generation: 1 });
    return {
      owner_id: clientId,
      account_id: newId('usr'),
      url,
      generation: 1,
      secret_sealed: sealed,
      created_at: new Date(),
    };
  });
  await world.database.knex.batchInsert('configurations', rows);
  await world.database.knex.batchInsert(
    'lanes',
    clientIds.map((owner_id) => ({ owner_id, generation: 1 })),
  );
  return clientIds;
};

/** Stores one test event for each of these apps. */
export const seedEvents = async (world: World, clientIds: readonly string[]): Promise<void> => {
  const data = { message: 'x' };
  const userId = newId('usr');
  const drafts = clientIds.map((ownerId) => ({
    ownerId,
    userId,
    event: 'integration.test' as const,
    data,
    factId: null,
  }));
  await world.database.knex.transaction((trx) => storeEvents(trx, drafts, { clock: () => new Date(), newId }));
};

/** Stores a test event with one attempt left and returns its id. */
export const seedLastAttempt = async (world: World, clientId: string): Promise<string> => {
  const draft = {
    ownerId: clientId,
    userId: newId('usr'),
    event: 'integration.test',
    data: { message: 'x' },
    factId: null,
  } as const;
  return await world.database.knex.transaction(async (trx) => {
    const [stored] = await storeEvents(trx, [draft], { clock: () => new Date(), newId });
    if (stored === undefined) throw new Error('the app has no configuration');
    await trx('events').where({ event_id: stored.eventId }).update({ attempts: 7, attempts_in_round: 7 });
    return stored.eventId;
  });
};

/** Calls a webhook endpoint of the owner's app. */
export const call = (
  dispatcher: Dispatcher,
  owner: { clientId: string; token?: string },
  request: [string, string, unknown?],
): Promise<Answer> => send(`${dispatcher.url}/v1/integrations/apps/${owner.clientId}/webhook`, owner, request);

/** Calls an endpoint of an account's own webhook. */
export const callAccount = (
  dispatcher: Dispatcher,
  owner: { token?: string },
  request: [string, string, unknown?],
): Promise<Answer> => send(`${dispatcher.url}/v1/console/account/webhook`, owner, request);

const send = async (
  address: string,
  owner: { token?: string },
  [method, path, body]: [string, string, unknown?],
): Promise<Answer> => {
  const response = await fetch(`${address}${path}`, {
    method,
    headers: {
      ...(owner.token === undefined ? {} : { authorization: `Bearer ${owner.token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers };
};

/** Publishes a fact, as a relay does, and returns its id. */
export const publishFact = async <S extends EventSubject>(
  { operator }: World,
  fact: { subject: S; aggregate: string; version: number; data: EventOf<S>['data']; id?: string },
): Promise<string> => {
  const { id = randomUUID(), ...rest } = fact;
  const envelope = { id, ...rest, occurred_at: new Date().toISOString() };
  await operator.jetstream.publish(fact.subject, JSON.stringify(envelope), { msgID: id });
  return id;
};
