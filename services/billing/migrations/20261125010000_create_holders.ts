import type { Knex } from 'knex';

/** Adds the gateway processes that hold reservations, with their leases. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE holders (
      holder_id text PRIMARY KEY,
      expires_at timestamptz NOT NULL
    );
    -- Finds reserved requests by holder, and those without one by age. The release before, which looks by age alone, sorts the few
    -- rows that are reserved.
    CREATE INDEX reservations_by_holder ON reservations (holder_id, created_at) WHERE state = 'reserved';
    DROP INDEX reservations_reserved;
  `);
};
