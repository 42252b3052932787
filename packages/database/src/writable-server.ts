import pg from 'pg';
import { CONNECT_TIMEOUT_MS, connectionConfig, type DatabaseOptions } from './connection-config.ts';
import { isConnectionFailure } from './postgres-errors.ts';

/** Authority of a connection string: scheme with user, hosts, rest. */
const PARTS = /^([^/?#]+:\/\/(?:[^/?#@]*@)?)([^/?#]+)(.*)$/s;
const ATTRIBUTE = 'target_session_attrs';
/** libpq's words for a server that takes writes. Services write, so they want no other. */
const WRITABLE = new Set(['read-write', 'primary']);
/** Several connections of a pool break at once. The servers are asked once for all of them. */
const ASK_INTERVAL_MS_MIN = 100;

/** The servers of a database: one, or several of which one takes writes. */
export interface Servers {
  /** Connection string of each server. */
  readonly urls: readonly string[];
  /** True if the servers have to be asked which one takes writes. */
  readonly mustAsk: boolean;
}

/**
 * Reads a connection string with one or several hosts, as libpq takes it: `postgres://user@one:5432,two:5432/name`. Throws
 * RangeError for a `target_session_attrs` that may lead to a server without writes.
 */
export const readServers = (url: string): Servers => {
  const [, start = '', hosts = '', rest = ''] = PARTS.exec(url) ?? [];
  if (!hosts.includes(',') && !rest.includes(ATTRIBUTE)) return { urls: [url], mustAsk: false };
  const urls = hosts.split(',').map((host) => new URL(`${start}${host}${rest}`));
  const wanted = urls[0]?.searchParams.get(ATTRIBUTE) ?? undefined;
  if (wanted !== undefined && !WRITABLE.has(wanted)) {
    throw new RangeError(`${ATTRIBUTE} of a database URL is ${[...WRITABLE].join(' or ')}`);
  }
  // The driver does not know the parameter.
  for (const each of urls) each.searchParams.delete(ATTRIBUTE);
  return { urls: urls.map(({ href }) => href), mustAsk: true };
};

/** None of the servers takes writes. During a failover that lasts until one is promoted. */
export class NoWritableServer extends Error {
  override readonly name = 'NoWritableServer';
  /** SQLSTATE of a client that could not connect. */
  readonly code = '08001';

  constructor(options: ErrorOptions) {
    super('none of the database servers takes writes', options);
  }
}

/**
 * Returns the URL of the first server that takes writes, asked in their order from `startAt` on. Each gets an equal share of the
 * connect timeout, which leaves one for the connection itself. Rejects if none does.
 */
export const findWritable = async (
  { urls }: Servers,
  options: DatabaseOptions,
  startAt: string | undefined = undefined,
): Promise<string> => {
  const first = Math.max(0, urls.indexOf(startAt ?? ''));
  let cause: unknown;
  for (const url of [...urls.slice(first), ...urls.slice(0, first)]) {
    try {
      if (await takesWrites(url, options)) return url;
    } catch (error) {
      cause = error;
    }
  }
  // A wrong password does not pass by waiting.
  if (cause !== undefined && !isConnectionFailure(cause)) throw cause;
  throw new NoWritableServer({ cause });
};

/** Returns the options for one of several servers: what remains for the connection once the servers were asked. */
export const shareOptions = ({ urls, mustAsk }: Servers, options: DatabaseOptions): DatabaseOptions => {
  if (!mustAsk) return options;
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  return { ...options, connectTimeoutMs: Math.floor(connectTimeoutMs / (urls.length + 1)) };
};

const takesWrites = async (url: string, options: DatabaseOptions): Promise<boolean> => {
  const config = connectionConfig(url, options);
  const client = new pg.Client({ ...config, query_timeout: config.connectionTimeoutMillis });
  // A server that dies while it is asked fails the query as well.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('SHOW transaction_read_only');
    return rows[0]?.transaction_read_only === 'off';
  } finally {
    void client.end().catch(() => undefined);
  }
};

/** Keeps the writable server of a pool, and asks again once there is a reason. */
export interface WritableServer {
  /** Asks the servers. Rejects if none takes writes. */
  readonly find: () => Promise<string>;
  readonly isExpired: () => boolean;
  /** Notes a connection that broke, that did not answer, or whose server refused a write. */
  readonly doubt: () => void;
  readonly opened: () => void;
  readonly closed: () => void;
}

export const createWritableServer = (servers: Servers, options: DatabaseOptions): WritableServer => {
  let known: string | undefined;
  let askedAt = 0;
  let open = 0;
  let isDoubted = true;
  return {
    async find() {
      try {
        known = await findWritable(servers, options, known);
        isDoubted = false;
        return known;
      } finally {
        askedAt = performance.now();
      }
    },
    // Without a connection nothing shows that the server is still there.
    isExpired: () => (isDoubted || open === 0) && performance.now() - askedAt > ASK_INTERVAL_MS_MIN,
    doubt() {
      isDoubted = true;
    },
    opened() {
      open += 1;
    },
    closed() {
      open -= 1;
    },
  };
};
