import type { Knex } from 'knex';
import pg from 'pg';
import { isAtRest } from './driver-connection.ts';
import { type Column, type DriverColumn, PreparedQuery, toColumns } from './prepared-query.ts';

/** A statement that each connection parses and plans once. */
export interface PreparedStatement {
  /** Unique in the service: the server keeps it under this name. */
  readonly name: string;
  /** With parameters as `$1`. It names its columns, so that a plan that is kept outlives a migration that adds one. */
  readonly text: string;
}

/** What is used of the driver's connection that a pool or a transaction hands out. */
interface Connection {
  query(query: (PreparedStatement & { values: readonly unknown[] }) | PreparedQuery): Promise<Answer>;
  end(): Promise<void>;
}

interface Answer {
  readonly rows: unknown[];
  /** Described with the first run only. */
  readonly fields?: readonly DriverColumn[];
}

/** By connection and name: the columns of the statements that it has run. */
const described = new WeakMap<Connection, Map<string, Column[]>>();

/**
 * Runs a statement under its name, on a connection of the pool or on that of the transaction. For the few statements of a hot
 * path only: parsing one anew, and building it with knex, takes longer than running it. Answers its rows.
 */
export const runPrepared = async <T>(
  executor: Knex | Knex.Transaction,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<T[]> => {
  const connection: Connection = await executor.client.acquireConnection();
  try {
    // The caller names the columns of its own statement.
    return (await runOn(connection, statement, values)) as T[];
  } catch (error) {
    // Where the server has not answered, its answer may be on the way: nobody else may get this connection.
    if (!(error instanceof pg.DatabaseError) && !isAtRest(connection)) connection.end().catch(() => undefined);
    throw error;
  } finally {
    await executor.client.releaseConnection(connection);
  }
};

const runOn = async (
  connection: Connection,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<unknown[]> => {
  const known = described.get(connection);
  const columns = known?.get(statement.name);
  if (columns !== undefined) return (await connection.query(new PreparedQuery(statement, values, columns))).rows;
  const { rows, fields = [] } = await connection.query({ ...statement, values });
  described.set(connection, (known ?? new Map<string, Column[]>()).set(statement.name, toColumns(fields)));
  return rows;
};
