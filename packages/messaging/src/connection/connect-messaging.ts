import { setTimeout as sleep } from 'node:timers/promises';
import { UnorderedSet } from '@svc/service-kit';
import { connect, Events, type JetStreamClient, type JetStreamManager, type NatsConnection } from 'nats';
import type { MessagingLogger } from './logger.ts';
import { createMeters, type MessagingMeters, type MessagingMetrics } from './metrics.ts';
import { ensureTopology } from './topology.ts';

const CONNECT_ATTEMPT_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 30_000;
const RETRY_MS = 250;
const REQUEST_TIMEOUT_MS = 5_000;
const PING_INTERVAL_MS = 5_000;
const PINGS_UNANSWERED_MAX = 2;
const DRAIN_TIMEOUT_MS = 5_000;
const TOPOLOGY_ATTEMPTS_MAX = 20;

/** The connection was lost while an answer was awaited. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly kind = 'unavailable';
  readonly code = 'messaging.connection_lost';

  constructor() {
    super('the connection to NATS is lost');
  }
}

/** How to reach NATS. */
export interface ConnectOptions {
  readonly url: string;
  /** Shown among the server's connections: the service's name. */
  readonly name: string;
  readonly logger: MessagingLogger;
  readonly metrics?: MessagingMetrics | undefined;
  /** Copies that the broker keeps of each stream: 3 in a cluster. */
  readonly replicas?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

/** A connection to NATS that mends itself, with its streams and bucket in place. */
export interface Messaging {
  readonly name: string;
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly logger: MessagingLogger;
  readonly meters: MessagingMeters;
  isConnected(): boolean;
  /** Makes streams and bucket again after the broker lost them; calls at the same time share one attempt. */
  ensureTopology(): Promise<void>;
  /** As `work`, but rejects as soon as the connection is lost: an answer will not come then. */
  untilDisconnect<T>(work: Promise<T>): Promise<T>;
  /** Calls `listener` after every reconnection; answers how to stop that. */
  onReconnect(listener: () => void): () => void;
  /** Sends what is buffered, then closes; bounded. */
  close(): Promise<void>;
}

interface ConnectionState {
  connected: boolean;
  /** Those who wait for an answer over the present connection. */
  readonly waiting: UnorderedSet<(reason: ConnectionLost) => void>;
}

/**
 * Connects, trying for at most 30 s, and makes streams and bucket. A connection lost later is restored forever.
 * Throws the last failure when NATS cannot be reached.
 */
export const connectMessaging = async (options: ConnectOptions): Promise<Messaging> => {
  const connection = await connectWithin(options);
  const jetstream = connection.jetstream({ timeout: REQUEST_TIMEOUT_MS });
  const manager = await connection.jetstreamManager({ timeout: REQUEST_TIMEOUT_MS, checkAPI: false });
  const listeners = new Set<() => void>();
  const state: ConnectionState = { connected: true, waiting: new UnorderedSet() };
  let ensuring: Promise<void> | undefined;
  const messaging: Messaging = {
    name: options.name,
    connection,
    jetstream,
    manager,
    logger: options.logger,
    meters: createMeters(options.metrics),
    isConnected: () => state.connected && !connection.isClosed(),
    ensureTopology() {
      ensuring ??= ensureTopology(manager, jetstream, options.replicas ?? 1).finally(() => {
        ensuring = undefined;
      });
      return ensuring;
    },
    untilDisconnect: (work) => untilDisconnect(state, work),
    onReconnect(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => closeConnection(connection),
  };
  void followStatus(messaging, state, listeners);
  await ensureTopologyPatiently(messaging);
  return messaging;
};

/** Not a race with one promise for all: each race would stay in that one's memory for as long as the connection lasts. */
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

const connectWithin = async (options: ConnectOptions): Promise<NatsConnection> => {
  const deadline = Date.now() + (options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
  for (;;) {
    try {
      return await connect({
        servers: options.url.split(','),
        name: options.name,
        timeout: CONNECT_ATTEMPT_TIMEOUT_MS,
        maxReconnectAttempts: -1,
        reconnectTimeWait: RETRY_MS,
        reconnectJitter: RETRY_MS,
        pingInterval: PING_INTERVAL_MS,
        maxPingOut: PINGS_UNANSWERED_MAX,
        // A stack trace for each request, in case it fails, costs more than the request.
        noAsyncTraces: true,
      });
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
};

/** A broker that has just started may refuse JetStream requests for a moment. */
const ensureTopologyPatiently = async (messaging: Messaging): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await messaging.ensureTopology();
      return;
    } catch (error) {
      if (attempt < TOPOLOGY_ATTEMPTS_MAX) {
        await sleep(RETRY_MS);
        continue;
      }
      await closeConnection(messaging.connection);
      throw error;
    }
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
  }
};

const closeConnection = async (connection: NatsConnection): Promise<void> => {
  const timer = new AbortController();
  const timeout = sleep(DRAIN_TIMEOUT_MS, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([connection.drain().catch(() => undefined), timeout]);
  timer.abort();
  await connection.close();
};
