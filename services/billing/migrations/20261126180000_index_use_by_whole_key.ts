import type { Knex } from 'knex';

/**
 * Gives the index by app the whole key, so that a settlement finds its row in one step by either index. A plan made without
 * statistics may take this one, which then read all rows of the app on that day.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw('DROP INDEX usage_days_by_app');
  await knex.raw('CREATE INDEX usage_days_by_app ON usage_days (client_id, day, svc_user_id, service)');
};
