import type { Knex } from 'knex';

/** Domains of businesses. At most one account has a domain verified. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
CREATE TABLE publisher_domains (
  user_id text COLLATE "C" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  domain text COLLATE "C" NOT NULL,
  token text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'verified', 'lapsed')),
  created_at timestamptz NOT NULL,
  verified_at timestamptz,
  checked_at timestamptz,
  failing_since timestamptz,
  PRIMARY KEY (user_id, domain),
  CONSTRAINT publisher_domains_verified_at_a_time CHECK (status = 'pending' OR verified_at IS NOT NULL)
);
CREATE UNIQUE INDEX publisher_domains_verified ON publisher_domains (domain) WHERE status = 'verified';
CREATE INDEX publisher_domains_to_check ON publisher_domains (checked_at) WHERE status = 'verified';
`);
};
