import type { Knex } from 'knex';
import pg from 'pg';

/** A statement that each connection parses and plans once. */
export interface PreparedStatement {
  /** Unique in the service: the server keeps it under this name. */
  readonly name: string;
  /** With parameters as `$1`. It names its columns, so that a plan that is kept outlives a migration that adds one. */
  readonly text: string;
}

/** What is used of the driver's connection that a pool or a transaction hands out. */
interface Connection {
  query(query: PreparedStatement & { values: readonly unknown[] }): Promise<{ rows: unknown[] }>;
  end(): Promise<void>;
}

/**
 * Runs a statement under its name, on a connection of the pool or on that of the transaction. For the few statements of a hot
 * path only: parsing one anew, and building it with knex, takes longer than running it. Answers its rows.
 */
export async function runPrepared<T>(
  executor: Knex | Knex.Transaction,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<T[]> {
  const connection: Connection = await executor.client.acquireConnection();
  try {
    const { rows } = await connection.query({ ...statement, values });
    // The caller names the columns of its own statement.
    return rows as T[];
  } catch (error) {
    // What the server did not report itself leaves its answer on the way: nobody else may get this connection.
    if (!(error instanceof pg.DatabaseError)) connection.end().catch(() => undefined);
    throw error;
  } finally {
    await executor.client.releaseConnection(connection);
  }
}
