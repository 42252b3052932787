import type { Knex } from 'knex';

/** Adds the terms of connections: budget and pause, as billing holds them. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    ALTER TABLE connections
      ADD COLUMN is_paused boolean NOT NULL DEFAULT false,
      ADD COLUMN budget_limit_micros bigint,
      ADD COLUMN budget_period text,
      ADD COLUMN budget_expires_at timestamptz,
      ADD CONSTRAINT connections_budget CHECK ((budget_limit_micros IS NULL) = (budget_period IS NULL)) NOT VALID
  `);
};
