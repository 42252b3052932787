import type { Duplex } from 'node:stream';
import { serverVerification } from './server-verification.ts';
import { typeParsers } from './type-parsers.ts';

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
  keepAlive: true,
  types: typeParsers,
});

/** Returns the milliseconds after which an unanswered query ends its connection. */
export const answerTimeoutMs = (options: DatabaseOptions): number =>
  (options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS) + ANSWER_GRACE_MS;
