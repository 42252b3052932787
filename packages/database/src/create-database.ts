import { once } from 'node:events';
import { activeTracing, type Tracing } from '@svc/tracing';
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { type DriverConnection, isAtRest, isEnding } from './driver-connection.ts';
import { limitQueries } from './limit-queries.ts';
import { serverVerification } from './server-verification.ts';
import { traceConnection } from './trace-connection.ts';
import { typeParsers } from './type-parsers.ts';

/** Longer than any query of a request may take; migrations have their own limit. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** What the server's refusal may take to arrive: later than that, the connection is dead or the server hangs. */
const ANSWER_GRACE_MS = 3_000;
/** What the rest of its answer may take once a query is known to have failed. */
const REST_GRACE_MS = 1_000;
const LOCK_TIMEOUT_MS = 5_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;
const ACQUIRE_TIMEOUT_MS = 5_000;
const IDLE_CONNECTION_TIMEOUT_MS = 30_000;
const POOL_MAX = 10;

/** What may differ between uses of a database; every limit has a default. */
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

/**
 * A pool on one database; nothing connects before the first query. `int8` arrives as a number and throws beyond 2^53,
 * `timestamptz` as a Date, `date` and `numeric` as text. The caller ends it with `destroy()`. Throws RangeError for a URL
 * with TLS parameters beside a CA file.
 */
export const createDatabase = (url: string, options: DatabaseOptions = {}): Knex => {
  const tracing = activeTracing();
  return knex({
    client: 'pg',
    connection: connectionConfig(url, options),
    pool: {
      min: 0,
      max: options.poolMax ?? POOL_MAX,
      acquireTimeoutMillis: options.acquireTimeoutMs ?? ACQUIRE_TIMEOUT_MS,
      createTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_CONNECTION_TIMEOUT_MS,
      validate: comesToRest,
      // Fail the waiting query at once when the server refuses, instead of retrying until the acquire time-out.
      propagateCreateError: true,
      afterCreate: prepareEach(options, tracing),
    },
    acquireConnectionTimeout: options.acquireTimeoutMs ?? ACQUIRE_TIMEOUT_MS,
    // knex writes failures to standard output, also the ones it throws; whoever catches them logs them properly.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  });
};

/** Configuration of the `pg` driver for one connection with our limits. */
export const connectionConfig = (url: string, options: DatabaseOptions) => {
  return {
    connectionString: url,
    ...(options.caFile === undefined ? {} : { ssl: serverVerification(url, options.caFile) }),
    application_name: options.applicationName ?? 'svc',
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    lock_timeout: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    types: typeParsers,
  };
};

/** When a query that was not answered is given up, milliseconds after it was sent. */
export const answerTimeoutMs = (options: DatabaseOptions): number => {
  return (options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS) + ANSWER_GRACE_MS;
};

/**
 * Whether a connection that lies in the pool is at rest: where an answer is still awaited, the next query would wait too. A server
 * that has refused a statement says only a moment later that it takes the next one.
 */
const comesToRest = async (connection: unknown): Promise<boolean> => {
  if (!(connection instanceof pg.Client) || isAtRest(connection)) return true;
  if (isEnding(connection)) return false;
  await once(connection, 'drain', { signal: AbortSignal.timeout(REST_GRACE_MS) }).catch(ignore);
  return isAtRest(connection);
};

const ignore = (): void => {};

type Created = (failure: unknown, connection: DriverConnection) => void;

/** What the pool does with each new connection: its queries are limited and, while traces are on, told of. */
const prepareEach = (options: DatabaseOptions, tracing: Tracing | undefined) => {
  return (connection: DriverConnection, done: Created) => {
    limitQueries(connection, answerTimeoutMs(options));
    if (tracing !== undefined) traceConnection(connection, tracing);
    done(undefined, connection);
  };
};
