import type { Knex } from 'knex';

/** Counts of each app's inference requests, by UTC day, summed up from the gateway's facts. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(
    `CREATE TABLE app_activity (
       client_id text NOT NULL,
       day date NOT NULL,
       requests bigint NOT NULL CHECK (requests >= 0),
       errors bigint NOT NULL CHECK (errors BETWEEN 0 AND requests),
       PRIMARY KEY (client_id, day)
     )`,
  );
};
