import type { Knex } from 'knex';

/**
 * Single sign-on: an account need not have a password. And an account remembers up to which session it was signed out
 * everywhere, so that no sign-in that began before slips through.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE accounts ALTER COLUMN password_hash DROP NOT NULL;
ALTER TABLE accounts ADD COLUMN sessions_revoked_through text COLLATE "C";

CREATE TABLE sso_identities (
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  linked_at timestamptz NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX sso_identities_by_user ON sso_identities (user_id);
`);
};
