import type { Knex } from 'knex';

/** Announced ends of accounts that the payment provider still has to carry out. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
CREATE TABLE account_endings (
  svc_user_id text PRIMARY KEY,
  wanted text NOT NULL CHECK (wanted IN ('cancel', 'keep', 'erase')),
  -- Cancelled because of the deletion, so that keeping the account resumes it.
  cancelled_subscription_id text,
  is_applied boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL
);
CREATE INDEX account_endings_waiting ON account_endings (updated_at) WHERE NOT is_applied;
`);
};
