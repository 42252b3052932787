import { setTimeout as sleep } from 'node:timers/promises';
import { brokerInboxPrefix } from '@svc/contracts';
import { connect, type NatsConnection } from 'nats';
import { type BrokerAddress, connectionOptions } from './connection-options.ts';

const CONNECT_ATTEMPT_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 30_000;
const RETRY_MS = 250;
const PING_INTERVAL_MS = 5_000;
const PINGS_UNANSWERED_MAX = 2;

export interface BrokerConnectionOptions extends BrokerAddress {
  /** Name of the connecting service, shown among the server's connections. Replies go to its inbox. */
  readonly name: string;
  readonly connectTimeoutMs?: number | undefined;
}

/**
 * Connects, retrying for at most 30 s; a connection lost later is restored forever. Throws the last failure if no
 * server can be reached, and RangeError for an invalid address.
 */
export const connectToBroker = async (options: BrokerConnectionOptions): Promise<NatsConnection> => {
  const { name, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const settings = {
    ...connectionOptions(options),
    name,
    inboxPrefix: brokerInboxPrefix(name),
    timeout: CONNECT_ATTEMPT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    // Credentials that are refused while a server reads its new configuration must not end the connection for good.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: RETRY_MS,
    reconnectJitter: RETRY_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: PINGS_UNANSWERED_MAX,
    // A stack trace for each request, in case it fails, costs more than the request.
    noAsyncTraces: true,
  };
  const deadline = Date.now() + connectTimeoutMs;
  for (;;) {
    try {
      return await connect(settings);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
};
