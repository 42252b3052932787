import type { Knex } from 'knex';

/** What happened to a user's connections, kept for that user; it outlives connection and app. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
CREATE TABLE connection_audit (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  client_id text COLLATE "C" NOT NULL,
  action text NOT NULL CHECK (
    action IN ('connected', 'consented_again', 'disconnected', 'app_suspended', 'token_reused', 'revoked_by_app')
  ),
  scope text,
  network text,
  client_kind text NOT NULL CHECK (client_kind IN ('browser', 'console', 'app', 'service')),
  happened_at timestamptz NOT NULL
);
CREATE INDEX connection_audit_by_connection ON connection_audit (user_id, client_id, id);
CREATE INDEX connection_audit_by_time ON connection_audit (happened_at);
`);
};
