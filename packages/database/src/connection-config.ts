import { readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import pg from 'pg';
import type { PoolMetrics } from './pool-meters.ts';

const INT8 = 20;

const DATE = 1082;

const INT8_ARRAY = 1016;

/**
 * Parsers for our connections only, since the whole process shares the driver's own table. Money is integer micros, so
 * `int8` becomes a number, and a value beyond 2^53 - 1 throws.
 */
const typeParsers = {
  getTypeParser(typeId: number, format?: string): (value: string) => unknown {
    if (typeId === INT8) return parseInt8;
    if (typeId === INT8_ARRAY) return parseInt8Array;
    if (typeId === DATE) return (value) => value;
    return pg.types.getTypeParser(typeId, format === 'binary' ? 'binary' : 'text');
  },
};

const parseInt8 = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number`);
  return value;
};

const parseInt8Array = (text: string): (number | null)[] => {
  const inner = text.slice(1, -1);
  if (inner === '') return [];
  return inner.split(',').map((item) => (item === 'NULL' ? null : parseInt8(item)));
};

/** Parameters of a connection string that decide on TLS. The driver lets them win over its options. */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat'];

/** Queries of requests are shorter. Migrations have their own limit. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** Time for the server's own timeout error to arrive. After that the connection counts as dead. */
const ANSWER_GRACE_MS = 3_000;
const LOCK_TIMEOUT_MS = 5_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
/** Time for a connection to open, by default. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Settings that differ between uses of a database. Every limit has a default. */
export interface DatabaseOptions {
  readonly poolMax?: number | undefined;
  /** PEM file of the authority that signed the server's certificate. With it, every connection is encrypted and verified. */
  readonly caFile?: string | undefined;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string | undefined;
  readonly statementTimeoutMs?: number | undefined;
  readonly lockTimeoutMs?: number | undefined;
  readonly acquireTimeoutMs?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Reports the pool at each scrape. */
  readonly metrics?: PoolMetrics | undefined;
  /** Opens the stream of a connection, on which the driver calls `connect`. A TCP socket by default. */
  readonly openStream?: (() => Duplex) | undefined;
}

/** Returns the driver's settings for one connection. */
export const connectionConfig = (url: string, options: DatabaseOptions) => ({
  connectionString: url,
  ...(options.caFile === undefined ? {} : { ssl: serverVerification(url, options.caFile) }),
  ...(options.openStream === undefined ? {} : { stream: options.openStream }),
  application_name: options.applicationName ?? 'svc',
  connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
  statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
  lock_timeout: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  // Days have 24 hours, in whichever time zone the server is: a day of grace crosses no change of clocks.
  options: '-c TimeZone=UTC',
  keepAlive: true,
  types: typeParsers,
});

/** Returns the milliseconds after which an unanswered query ends its connection. */
export const answerTimeoutMs = (options: DatabaseOptions): number =>
  (options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS) + ANSWER_GRACE_MS;

/**
 * TLS options that accept a server only with a certificate of this authority for the host of the URL, be it a name or an
 * address. Throws RangeError for a URL whose own parameters would decide instead.
 */
const serverVerification = (url: string, caFile: string): ConnectionOptions => {
  const { hostname, searchParams } = new URL(url);
  const found = TLS_PARAMETERS.filter((name) => searchParams.has(name));
  if (found.length > 0) throw new RangeError(`beside a CA file, a database URL has no ${found.join(', ')}`);
  const host = decodeURIComponent(hostname).replace(/^\[|\]$/g, '');
  return {
    ca: readFileSync(caFile, 'utf8'),
    rejectUnauthorized: true,
    // The driver tells TLS no host where that is an address, and TLS then compares with `localhost`.
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  };
};

/**
 * Limits of a connection that provisions or migrates. No request waits for it, so a busy machine or a slow disk is no
 * reason to give up: PostgreSQL copies a whole template for each new database, and one service waits for the next.
 */
export const setupLimits = {
  connectTimeoutMs: 60_000,
  acquireTimeoutMs: 60_000,
  statementTimeoutMs: 600_000,
  lockTimeoutMs: 600_000,
} as const satisfies DatabaseOptions;
