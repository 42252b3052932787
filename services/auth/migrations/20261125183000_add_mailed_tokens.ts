import type { Knex } from 'knex';

/** Tokens of links in mails, each good once for one purpose, and requests for a new password that were not looked at yet. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
CREATE TABLE mailed_tokens (
  digest bytea PRIMARY KEY,
  purpose text NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX mailed_tokens_by_user ON mailed_tokens (user_id, purpose);
CREATE INDEX mailed_tokens_by_expiry ON mailed_tokens (expires_at);
CREATE INDEX mailed_tokens_by_former_email ON mailed_tokens (email) WHERE purpose = 'undo_email';

CREATE TABLE password_reset_requests (
  id uuid PRIMARY KEY,
  sealed_email bytea NOT NULL,
  requested_at timestamptz NOT NULL
);
CREATE INDEX password_reset_requests_by_age ON password_reset_requests (requested_at);
`);
};
