import { setTimeout as sleep } from 'node:timers/promises';
import { brokerInboxPrefix } from '@svc/contracts';
import { connect, ErrorCode, type NatsConnection, NatsError } from 'nats';
import { type BrokerAddress, connectionOptions } from './connection-options.ts';

const CONNECT_ATTEMPT_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 30_000;
const RETRY_MS = 250;
const PING_INTERVAL_MS = 5_000;
const PINGS_UNANSWERED_MAX = 2;

/** NATS refuses the connection of a process that starts, or does not answer. The message has no password. */
class BrokerUnreachable extends Error {
  override readonly name = 'BrokerUnreachable';
  readonly code = 'broker_unreachable';

  constructor({ url, caFile }: BrokerAddress, cause: unknown) {
    const { servers, user = 'an anonymous user' } = connectionOptions({ url, caFile });
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`NATS_URL: cannot connect to NATS at ${String(servers)} as ${user}: ${reason}`, { cause });
  }
}

export interface BrokerConnectionOptions extends BrokerAddress {
  /** Name of the connecting service, shown among the server's connections. Replies go to its inbox. */
  readonly name: string;
  readonly connectTimeoutMs?: number | undefined;
  /** Gets the first failure, while the next attempts run. */
  readonly onWaiting?: ((failure: Error) => void) | undefined;
}

/**
 * Connects, retrying for at most 30 s; a connection lost later is restored forever. Throws BrokerUnreachable if no server can
 * be reached, or at once if the credentials are refused, and RangeError for an invalid address.
 */
export const connectToBroker = async (options: BrokerConnectionOptions): Promise<NatsConnection> => {
  const { name, connectTimeoutMs = CONNECT_TIMEOUT_MS, onWaiting } = options;
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
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connect(settings);
    } catch (error) {
      const failure = new BrokerUnreachable(options, error);
      if (isRefusal(error) || Date.now() > deadline) throw failure;
      if (attempt === 1) onWaiting?.(failure);
      await sleep(RETRY_MS);
    }
  }
};

const REFUSALS: readonly string[] = [ErrorCode.AuthorizationViolation, ErrorCode.BadAuthentication];

const isRefusal = (error: unknown): boolean => error instanceof NatsError && REFUSALS.includes(error.code);
