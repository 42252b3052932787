import type { Knex } from 'knex';

/** Addresses that were confirmed, and what an owner sees of each session. A provider has verified the addresses of SSO accounts. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
ALTER TABLE accounts ADD COLUMN email_verified_at timestamptz;
UPDATE accounts SET email_verified_at = created_at
WHERE password_hash IS NULL AND id IN (SELECT user_id FROM sso_identities);

ALTER TABLE console_sessions
  ADD COLUMN last_used_at timestamptz,
  ADD COLUMN user_agent text,
  ADD COLUMN network text;
`);
};
