import type { Knex } from 'knex';

/** Reads the clock of the database in whole milliseconds, as anchors and periods are stored. */
export const readClock = async (database: Knex): Promise<Date> => {
  const { rows } = await database.raw<{ rows: { now: Date }[] }>(
    "SELECT date_trunc('milliseconds', sandbox_payments.clock()) AS now",
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the clock returned no row');
  return row.now;
};
