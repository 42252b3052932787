import { setTimeout as sleep } from 'node:timers/promises';
import { serviceNames } from '@svc/contracts';
import { ConfigError, UnorderedSet } from '@svc/service-kit';
import { Events, type JetStreamClient, type JetStreamManager, type NatsConnection, type Status } from 'nats';
import {
  type BrokerConnectionOptions,
  connectionOptions,
  connectToBroker,
  isNotFound,
  jetStreamOptions,
} from '../broker/index.ts';
import { createMeters, type MessagingMeters, type MessagingMetrics } from './metrics.ts';

const REQUEST_TIMEOUT_MS = 5_000;
const DRAIN_TIMEOUT_MS = 5_000;

class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly kind = 'unavailable';
  readonly code = 'messaging.connection_lost';

  constructor() {
    super('the connection to NATS is lost');
  }
}

export interface ConnectOptions extends BrokerConnectionOptions {
  readonly logger: MessagingLogger;
  readonly metrics?: MessagingMetrics | undefined;
}

/** A connection to NATS that reconnects by itself. */
export interface Messaging {
  readonly name: string;
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly logger: MessagingLogger;
  readonly meters: MessagingMeters;
  readonly isConnected: () => boolean;
  /** Settles like `work`, but rejects as soon as the connection is lost, because no reply arrives after that. */
  readonly untilDisconnect: <T>(work: Promise<T>) => Promise<T>;
  /** Calls `listener` after every reconnection. Returns the function that ends this. */
  readonly onReconnect: (listener: () => void) => () => void;
  /** Sends buffered messages for at most 5 s, then closes. */
  readonly close: () => Promise<void>;
}

interface ConnectionState {
  connected: boolean;
  /** Rejections of the requests that wait for a reply over the present connection. */
  readonly waiting: UnorderedSet<(reason: ConnectionLost) => void>;
}

/**
 * Connects, trying for at most 30 s. Throws BrokerUnreachable if NATS cannot be reached, and ConfigError for the user of another
 * service, whose permissions would fail every publication.
 */
export const connectMessaging = async (options: ConnectOptions): Promise<Messaging> => {
  requireOwnUser(options);
  const onWaiting = (err: Error) => options.logger.warn({ component: 'messaging', err }, 'waiting for NATS');
  const connection = await connectToBroker({ ...options, onWaiting });
  // Neither client queries the account's state first, because no service may see it.
  const requests = { ...jetStreamOptions(options), timeout: REQUEST_TIMEOUT_MS, checkAPI: false };
  const jetstream = connection.jetstream(requests);
  const manager = await connection.jetstreamManager(requests);
  const listeners = new Set<() => void>();
  const state: ConnectionState = { connected: true, waiting: new UnorderedSet() };
  const messaging: Messaging = {
    name: options.name,
    connection,
    jetstream,
    manager,
    logger: options.logger,
    meters: createMeters(options.metrics),
    isConnected: () => state.connected && !connection.isClosed(),
    untilDisconnect: (work) => untilDisconnect(state, work),
    onReconnect(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => closeConnection(connection),
  };
  void followStatus(messaging, state, listeners);
  return messaging;
};

const requireOwnUser = ({ url, name }: ConnectOptions): void => {
  const { user } = connectionOptions({ url });
  if (user === name || !serviceNames.some((service) => service === user)) return;
  throw new ConfigError([{ name: 'NATS_URL', expected: `has the user ${user}, another service; expected ${name}` }]);
};

/** Uses a promise per call: one shared by all calls would keep a reaction of each until the connection ends. */
const untilDisconnect = async <T>({ connected, waiting }: ConnectionState, work: Promise<T>): Promise<T> => {
  const lost = Promise.withResolvers<never>();
  if (!connected) lost.reject(new ConnectionLost());
  const leave = waiting.add(lost.reject);
  try {
    return await Promise.race([work, lost.promise]);
  } finally {
    leave();
  }
};

const followStatus = async (messaging: Messaging, state: ConnectionState, listeners: Set<() => void>) => {
  for await (const status of messaging.connection.status()) {
    if (status.type === Events.Disconnect && state.connected) {
      state.connected = false;
      for (const giveUp of state.waiting) giveUp(new ConnectionLost());
      messaging.logger.warn({ component: 'messaging' }, 'the connection to NATS is lost; trying to restore it');
    }
    if (status.type === Events.Reconnect) {
      state.connected = true;
      messaging.logger.info({ component: 'messaging' }, 'the connection to NATS is restored');
      for (const listener of listeners) listener();
    }
    if (status.type === Events.Error) logRefusal(messaging, status);
  }
};

/** A subject that the broker refuses is missing in the event table, or the broker's accounts are of another release. */
const logRefusal = ({ logger }: Messaging, { data, permissionContext }: Status): void => {
  const fields = { component: 'messaging', code: String(data), ...permissionContext };
  logger.error(fields, 'NATS refused a request');
};

const closeConnection = async (connection: NatsConnection): Promise<void> => {
  const timer = new AbortController();
  const timeout = sleep(DRAIN_TIMEOUT_MS, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([connection.drain().catch(() => undefined), timeout]);
  timer.abort();
  await connection.close();
};

/** Returns null if the broker is down or does not answer. */
export const askBroker = async <T>(messaging: Messaging, ask: () => Promise<T>): Promise<T | null> => {
  if (!messaging.isConnected()) return null;
  return await messaging.untilDisconnect(ask()).catch(() => null);
};

/** Returns the stream's state, or undefined if there is no such stream. */
export const findStream = async (jsm: JetStreamManager, name: string) => {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** A stream or consumer of this release is missing at the broker. Services retry, because they may not create one. */
export class BrokerNotMigrated extends Error {
  override readonly name = 'BrokerNotMigrated';
  readonly kind = 'unavailable';
  readonly code = 'messaging.broker_not_migrated';

  constructor(missing: string) {
    super(`the broker is not migrated: ${missing}`);
  }
}

type Write = (fields: { readonly [name: string]: unknown }, message: string) => void;

/** The part of the service's logger that this package uses, with field names on that logger's list. */
export interface MessagingLogger {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
