import type { Knex } from 'knex';

/** The part of the service's metrics that this package uses. */
export interface PoolMetrics {
  readonly gauge: (options: { name: string; help: string; read: () => number }) => unknown;
}

/** The documented counts of knex's pool, which knex does not type. */
interface Pool {
  readonly max: number;
  readonly numUsed: () => number;
  readonly numPendingAcquires: () => number;
}

/** Reports a pool at each scrape: its connections in use, their maximum, and the callers that wait for one. */
export const meterPool = (database: Knex, { gauge }: PoolMetrics): void => {
  // knex creates its pool with the client, and keeps it until `destroy()`.
  const pool = (): Pool | undefined => database.client.pool;
  gauge({
    name: 'database_pool_used',
    help: 'Connections to the database in use.',
    read: () => pool()?.numUsed() ?? 0,
  });
  gauge({
    name: 'database_pool_max',
    help: 'Connections to the database that this process may have.',
    read: () => pool()?.max ?? 0,
  });
  gauge({
    name: 'database_pool_waiting',
    help: 'Callers in this process that wait for a connection to the database.',
    read: () => pool()?.numPendingAcquires() ?? 0,
  });
};
