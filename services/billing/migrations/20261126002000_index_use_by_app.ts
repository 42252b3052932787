import type { Knex } from 'knex';

/** Finds the use of one app on some days, for its typical use. No update of a day changes these columns. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw('CREATE INDEX usage_days_by_app ON usage_days (client_id, day)');
};
