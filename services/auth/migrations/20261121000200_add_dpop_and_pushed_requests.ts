import type { Knex } from 'knex';

/** Tokens that are bound to a key (RFC 9449), and authorization requests that are pushed beforehand (RFC 9126). */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE authorization_codes ADD COLUMN dpop_jkt text;
ALTER TABLE refresh_tokens ADD COLUMN jkt text;

CREATE TABLE dpop_proofs (
  digest bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX dpop_proofs_by_expiry ON dpop_proofs (expires_at);

CREATE TABLE pushed_requests (
  digest bytea PRIMARY KEY,
  client_id text COLLATE "C" NOT NULL REFERENCES apps (client_id) ON DELETE CASCADE,
  parameters jsonb NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX pushed_requests_by_expiry ON pushed_requests (expires_at);
`);
};
