import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import knex, { type Knex } from 'knex';
import { answerTimeoutMs, CONNECT_TIMEOUT_MS, connectionConfig, type DatabaseOptions } from './connection-config.ts';
import type { DriverConnection } from './limit-queries.ts';
import { type DriverQuery, interceptQueries, limitQueries } from './limit-queries.ts';
import { meterPool } from './pool-meters.ts';
import { createWritableServer, readServers, shareOptions } from './writable-server.ts';

/** A SQLSTATE, or a code of the system. */
const CODE = /^\w{1,60}$/;
const OPERATION = /^\s*([a-z]{2,12})\b/i;

const KNOWN = /^(SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|CALL|CREATE|ALTER|DROP)$/;

const ACQUIRE_TIMEOUT_MS = 5_000;
const IDLE_CONNECTION_TIMEOUT_MS = 30_000;
const POOL_MAX = 10;

type PoolConnection = DriverConnection & Pick<NodeJS.EventEmitter, 'on'>;
type Created = (failure: unknown, connection: PoolConnection) => void;

/**
 * Creates a pool that connects with its first query. `int8` arrives as a number and throws beyond 2^53, `timestamptz` as a
 * Date, `date` and `numeric` as text. Of several hosts in the URL it uses the one that takes writes, and changes to another
 * after a failover. The caller ends it with `destroy()`. Throws RangeError for a URL with TLS parameters beside a CA file.
 */
export const createDatabase = (url: string, options: DatabaseOptions = {}): Knex => {
  const doubtful = new WeakSet<DriverConnection>();
  const servers = readServers(url);
  const shared = shareOptions(servers, options);
  const server = createWritableServer(servers, shared);
  // Faults of a connection string are found at the start, not with the first query.
  const [only] = servers.urls.map((each) => connectionConfig(each, shared));
  const findServer = async () => ({
    ...connectionConfig(await server.find(), shared),
    expirationChecker: server.isExpired,
  });
  const database = knex({
    client: 'pg',
    connection: servers.mustAsk || only === undefined ? findServer : only,
    pool: {
      min: 0,
      max: options.poolMax ?? POOL_MAX,
      acquireTimeoutMillis: options.acquireTimeoutMs ?? ACQUIRE_TIMEOUT_MS,
      createTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: IDLE_CONNECTION_TIMEOUT_MS,
      // Fail the waiting query at once when the server refuses, instead of retrying until the acquire time-out.
      propagateCreateError: true,
      afterCreate: (connection: PoolConnection, done: Created) => {
        server.opened();
        connection.on('error', server.doubt);
        connection.on('end', server.closed);
        const onDoubt = () => {
          doubtful.add(connection);
          server.doubt();
        };
        limitQueries(connection, { timeoutMs: answerTimeoutMs(options), onDoubt });
        traceConnection(connection);
        done(undefined, connection);
      },
      // knex also replaces the connections whose end the driver reports.
      validate: (connection: DriverConnection) => !doubtful.has(connection),
    },
    acquireConnectionTimeout: options.acquireTimeoutMs ?? ACQUIRE_TIMEOUT_MS,
    // knex also prints the failures that it throws. The code that catches them logs them.
    log: { warn: ignore, error: ignore, deprecate: ignore, debug: ignore },
  });
  if (options.metrics !== undefined) meterPool(database, options.metrics);
  return database;
};

const ignore = (): void => {};

/**
 * Records each query of a connection as a span of the current trace: its operation and the name of a prepared statement,
 * never its text or values. Queries outside a trace, such as polls, make no span.
 */
const traceConnection = (connection: DriverConnection): void =>
  interceptQueries(connection, (send) => (query, callback) => {
    if (trace.getActiveSpan() === undefined) return send(query, callback);
    const span = beginSpan(query);
    send(query, (error, result) => {
      if (error) fail(span, error);
      span.end();
      callback(error, result);
    });
  });

/** Marks a span as failed, by the code of PostgreSQL or the system. Never by a message, which may hold values. */
const fail = (span: Span, error: unknown): void => {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  span.setAttribute('error.type', typeof code === 'string' && CODE.test(code) ? code : 'unknown');
  span.setStatus({ code: SpanStatusCode.ERROR });
};

const beginSpan = (query: DriverQuery): Span => {
  const { text, name } = typeof query === 'string' ? { text: query, name: undefined } : query;
  const operation = operationOf(text);
  return trace.getTracer('svc').startSpan(name ?? operation, {
    kind: SpanKind.CLIENT,
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': name },
  });
};

/** Returns the first word of a statement if SQL knows it. */
const operationOf = (text: string): string => {
  const word = OPERATION.exec(text)?.[1]?.toUpperCase() ?? '';
  return KNOWN.test(word) ? word : 'OTHER';
};
