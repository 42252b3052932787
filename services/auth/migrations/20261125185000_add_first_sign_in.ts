import type { Knex } from 'knex';

/** The first sign-in to an account comes from a new device and mails no notice. Existing accounts are taken to have had it. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE accounts ADD COLUMN first_signed_in_at timestamptz;
UPDATE accounts SET first_signed_in_at = created_at;
`);
};
