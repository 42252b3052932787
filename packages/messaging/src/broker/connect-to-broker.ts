import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brokerInboxPrefix } from '@svc/contracts';
import { type ConnectionOptions, connect, ErrorCode, type NatsConnection, NatsError } from 'nats';

/** Address of the broker and its certificate authority. */
export interface BrokerAddress {
  /** One URL, or several separated by commas, with the credentials of one user. */
  readonly url: string;
  /** PEM file of the authority that signed the servers' certificates. With it, nothing is sent over plain TCP. */
  readonly caFile?: string | undefined;
}

/**
 * Turns an address into options of the NATS client, which itself ignores credentials in a URL. `tls:` and a CA file both
 * demand a verified certificate. Throws RangeError if the servers could not be told apart by name or have several users.
 */
export const connectionOptions = ({ url, caFile }: BrokerAddress): ConnectionOptions => {
  const urls = url.split(',').map((one) => new URL(one.trim()));
  const [credentials = '', ...others] = new Set(urls.map(credentialsOf).filter((each) => each !== ':'));
  if (others.length > 0) throw new RangeError('the NATS servers of one list take the same credentials');
  const [user = '', pass = ''] = credentials.split(':').map(decodeURIComponent);
  const servers = urls.map(({ host }) => host);
  const login = user === '' ? { servers } : { servers, user, pass };
  const isEncrypted = caFile !== undefined || urls.some(({ protocol }) => protocol === 'tls:');
  if (!isEncrypted) return login;
  // The client compares a certificate with a name only.
  if (urls.some(({ hostname }) => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0)) {
    throw new RangeError('NATS servers with certificates are named by host names, not by IP addresses');
  }
  return { ...login, tls: caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') } };
};

const credentialsOf = ({ username, password }: URL): string => `${username}:${password}`;

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
