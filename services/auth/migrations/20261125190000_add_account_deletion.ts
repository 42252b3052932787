import type { Knex } from 'knex';

/** The time at which an account is to be erased, and the version of the facts about its deletion. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE accounts
  ADD COLUMN erase_at timestamptz,
  ADD COLUMN deletion_version integer NOT NULL DEFAULT 0;
CREATE INDEX accounts_to_erase ON accounts (erase_at) WHERE erase_at IS NOT NULL;
`);
};
