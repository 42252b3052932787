import { activeTracing } from '@svc/tracing';
import knex, { type Knex } from 'knex';
import type { DriverConnection } from './intercept-queries.ts';
import { limitQueries } from './limit-queries.ts';
import { serverVerification } from './server-verification.ts';
import { traceConnection } from './trace-connection.ts';
import { typeParsers } from './type-parsers.ts';

/** Queries of requests are shorter. Migrations have their own limit. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** Time for the server's own timeout error to arrive. After that the connection counts as dead. */
const ANSWER_GRACE_MS = 3_000;
const LOCK_TIMEOUT_MS = 5_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
const ACQUIRE_TIMEOUT_MS = 5_000;
const IDLE_CONNECTION_TIMEOUT_MS = 30_000;
const POOL_MAX = 10;

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
}

type Created = (failure: unknown, connection: DriverConnection) => void;

/**
 * Creates a pool that connects with its first query. `int8` arrives as a number and throws beyond 2^53, `timestamptz` as a
 * Date, `date` and `numeric` as text. The caller ends it with `destroy()`. Throws RangeError for a URL with TLS parameters
 * beside a CA file.
 */
export const createDatabase = (url: string, options: DatabaseOptions = {}): Knex => {
  const tracing = activeTracing();
  const doubtful = new WeakSet<DriverConnection>();
  return knex({
    client: 'pg',
    connection: connectionConfig(url, options),
    pool: {
      min: 0,
      max: options.poolMax ?? POOL_MAX,
      acquireTimeoutMillis: options.acquireTimeoutMs ?? ACQUIRE_TIMEOUT_MS,
      createTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_CONNECTION_TIMEOUT_MS,
      // Fail the waiting query at once when the server refuses, instead of retrying until the acquire time-out.
      propagateCreateError: true,
      afterCreate: (connection: DriverConnection, done: Created) => {
        limitQueries(connection, { timeoutMs: answerTimeoutMs(options), onDoubt: () => doubtful.add(connection) });
        if (tracing !== undefined) traceConnection(connection, tracing);
        done(undefined, connection);
      },
      // knex also replaces the connections whose end the driver reports.
      validate: (connection: DriverConnection) => !doubtful.has(connection),
    },
    acquireConnectionTimeout: options.acquireTimeoutMs ?? ACQUIRE_TIMEOUT_MS,
    // knex also prints the failures that it throws. The code that catches them logs them.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  });
};

/** Returns the driver's settings for one connection. */
export const connectionConfig = (url: string, options: DatabaseOptions) => ({
  connectionString: url,
  ...(options.caFile === undefined ? {} : { ssl: serverVerification(url, options.caFile) }),
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

const ignore = (): void => {};
