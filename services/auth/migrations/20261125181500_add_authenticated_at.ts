import type { Knex } from 'knex';

/** Last time that the person of a session proved who they are. A previous release stores sessions without it. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE console_sessions ADD COLUMN authenticated_at timestamptz NOT NULL DEFAULT now();
UPDATE console_sessions SET authenticated_at = created_at;
`);
};
