import type { Knex } from 'knex';

/** Challenges are signed, so only those that were used are stored, until they expire. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
CREATE TABLE passkeys (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  name text NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  public_key bytea NOT NULL,
  counter bigint NOT NULL CHECK (counter >= 0),
  transports text[] NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id)
);
CREATE INDEX passkeys_by_user ON passkeys (user_id);
CREATE TABLE used_passkey_challenges (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX used_passkey_challenges_by_expiry ON used_passkey_challenges (expires_at);
`);
};
