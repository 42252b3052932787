import type { Knex } from 'knex';

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
