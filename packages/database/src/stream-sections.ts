import type { Knex } from 'knex';
import pg from 'pg';
import { answerTimeoutMs, connectionConfig, type DatabaseOptions } from './connection-config.ts';
import { limitQueries } from './limit-queries.ts';
import { findWritable, readServers, shareOptions } from './writable-server.ts';

/** A statement that each connection parses and plans once. */
export interface PreparedStatement {
  /** Unique in the service: the server keeps the statement under this name. */
  readonly name: string;
  /** With parameters as `$1`. It names its columns, so that a kept plan outlives a migration that adds one. */
  readonly text: string;
}

/** The part of the driver's connection that is used here. */
interface Connection {
  readonly query: (
    query: PreparedStatement & { readonly values: readonly unknown[] },
  ) => Promise<{ readonly rows: unknown[] }>;
}

const CLOSE_TIMEOUT_MS = 2_000;

/** A connection outside the pool, for state that lives and dies with it, such as a session's advisory lock. */
export interface DatabaseSession {
  /** Queries run one after the other, in the order of their calls. */
  readonly query: <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** Runs a statement that the server parses and plans once. */
  readonly run: <Row>(statement: PreparedStatement, values: readonly unknown[]) => Promise<Row[]>;
  /** False once the connection is closed, lost or in an unknown state. It is never replaced. */
  readonly isOpen: () => boolean;
  readonly close: () => Promise<void>;
}

/** Opens a connection to the server that takes writes. Rejects if the server cannot be reached within the connect timeout. */
export const openSession = async (url: string, options: DatabaseOptions = {}): Promise<DatabaseSession> => {
  const servers = readServers(url);
  const shared = shareOptions(servers, options);
  const [only = url] = servers.urls;
  const client = new pg.Client(connectionConfig(servers.mustAsk ? await findWritable(servers, shared) : only, shared));
  let open = true;
  const markClosed = () => {
    open = false;
  };
  client.on('error', markClosed);
  client.on('end', markClosed);
  await client.connect();
  limitQueries(client, { timeoutMs: answerTimeoutMs(options), onDoubt: markClosed });
  // The server keeps the session's locks until it notices that this side has vanished, so it should notice soon.
  await client.query('SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3');
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = async <Row>(query: pg.QueryConfig): Promise<Row[]> => {
    const running = last.then(() => client.query(query));
    last = running.catch(() => undefined);
    // The row's shape is the statement's, which only the caller knows.
    return (await running).rows as Row[];
  };
  return {
    isOpen: () => open,
    query: (sql, values = []) => inTurn({ text: sql, values: [...values] }),
    run: ({ name, text }, values) => inTurn({ name, text, values: [...values] }),
    async close() {
      open = false;
      await endQuickly(client);
    },
  };
};

const endQuickly = async (client: pg.Client): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
  });
  await Promise.race([client.end().catch(() => undefined), timeout]);
  clearTimeout(timer);
};

/**
 * Runs a named statement of the driver, on a connection of the pool or on that of the transaction, and returns its rows.
 * For the statements of a hot path: parsing one anew, and building it with knex, takes longer than running it.
 */
export const runPrepared = async <T>(
  executor: Knex | Knex.Transaction,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<T[]> => {
  const connection: Connection = await executor.client.acquireConnection();
  try {
    const { rows } = await connection.query({ ...statement, values });
    // The caller names the columns of its statement.
    return rows as T[];
  } finally {
    await executor.client.releaseConnection(connection);
  }
};

/** A part of an export: a statement whose rows become JSON objects. `$1` is bound to the subject of the export. */
export interface ExportSection {
  readonly name: string;
  readonly sql: string;
}

/** Rows in memory at one time. */
const BATCH_ROWS = 500;
/** For a fetch of one batch. Every section reads by an index on the account, so this bounds a server in trouble. */
const STATEMENT_TIMEOUT_MS = 120_000;

/**
 * Writes the rows of all sections as one JSON object, `{"<section>": [row, …], …}`, from one snapshot of the database.
 * Waits for each `write`, so that a slow reader is not buffered. Has a connection outside the pool, so that exports never
 * keep requests waiting for one. Rejects if `write` takes longer than a transaction may be idle.
 */
export const streamSections = async (
  database: { readonly url: string } & Pick<DatabaseOptions, 'caFile'>,
  sections: readonly ExportSection[],
  { id, write }: { readonly id: string; readonly write: (text: string) => Promise<void> },
): Promise<void> => {
  const options = { caFile: database.caFile, applicationName: 'export', statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const session = await openSession(database.url, options);
  try {
    await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await write('{');
    for (const [index, { name, sql }] of sections.entries()) {
      await session.query(`DECLARE section NO SCROLL CURSOR FOR SELECT to_jsonb(s) AS row FROM (${sql}) AS s`, [id]);
      await write(`${index === 0 ? '' : ','}${JSON.stringify(name)}:[`);
      for (let isFirst = true; ; isFirst = false) {
        const rows = await session.query<{ row: unknown }>(`FETCH ${BATCH_ROWS} FROM section`);
        const text = rows.map(({ row }) => JSON.stringify(row)).join(',');
        if (text !== '') await write(`${isFirst ? '' : ','}${text}`);
        if (rows.length < BATCH_ROWS) break;
      }
      await session.query('CLOSE section');
      await write(']');
    }
    await write('}');
    await session.query('COMMIT');
  } finally {
    await session.close();
  }
};
