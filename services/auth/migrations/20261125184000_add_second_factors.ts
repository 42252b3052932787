import type { Knex } from 'knex';

/** TOTP secrets are encrypted; recovery codes and challenges are stored as digests. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE accounts ADD COLUMN has_second_factor boolean NOT NULL DEFAULT false;
CREATE TABLE totp_factors (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  sealed_secret bytea NOT NULL,
  created_at timestamptz NOT NULL,
  confirmed_at timestamptz,
  last_step integer,
  last_used_at timestamptz,
  CONSTRAINT totp_factors_confirmed_with_step CHECK ((confirmed_at IS NULL) = (last_step IS NULL))
);
CREATE INDEX totp_factors_by_user ON totp_factors (user_id);
CREATE INDEX totp_factors_unconfirmed ON totp_factors (created_at) WHERE confirmed_at IS NULL;
CREATE TABLE recovery_codes (
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  digest bytea NOT NULL,
  PRIMARY KEY (user_id, digest)
);
CREATE TABLE sign_in_challenges (
  digest bytea PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  sessions_revoked_through text COLLATE "C",
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_challenges_by_user ON sign_in_challenges (user_id);
CREATE INDEX sign_in_challenges_by_expiry ON sign_in_challenges (expires_at);
`);
};
