import type { Knex } from 'knex';

/** A statement that each connection parses and plans once. */
export interface PreparedStatement {
  /** Unique in the service: the server keeps it under this name. */
  readonly name: string;
  /** With parameters as `$1`. */
  readonly text: string;
}

/** What is used of the driver's connection that a pool or a transaction hands out. */
interface Connection {
  query(query: PreparedStatement & { values: readonly unknown[] }): Promise<{ rows: unknown[] }>;
}

/**
 * Runs a statement under its name, on a connection of the pool or on that of the transaction. For the few statements of the
 * hot path only: parsing one anew takes as long as a refusal does.
 */
export async function runPrepared<T>(
  database: Knex,
  statement: PreparedStatement,
  values: readonly unknown[],
): Promise<T[]> {
  const connection: Connection = await database.client.acquireConnection();
  try {
    const { rows } = await connection.query({ ...statement, values });
    // The caller names the columns of its own statement.
    return rows as T[];
  } finally {
    await database.client.releaseConnection(connection);
  }
}
