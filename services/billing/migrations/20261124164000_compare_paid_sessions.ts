import type { Knex } from 'knex';

/** Adds what a checkout asked for and what was paid, and the status of a session whose payment differs. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE checkout_sessions
      -- Null in sessions that the previous release started.
      ADD COLUMN asked_micros bigint CHECK (asked_micros >= 0),
      ADD COLUMN asked_currency text,
      ADD CONSTRAINT checkout_sessions_asked_check CHECK ((asked_currency IS NULL) = (asked_micros IS NULL)),
      -- What the provider reports of a mismatched session; null if it reports no amount.
      ADD COLUMN paid_micros bigint,
      ADD COLUMN paid_currency text,
      ADD COLUMN mismatched_subscription_id text,
      DROP CONSTRAINT checkout_sessions_status_check,
      ADD CONSTRAINT checkout_sessions_status_check
        CHECK (status IN ('open', 'complete', 'expired', 'void', 'mismatched')) NOT VALID,
      DROP CONSTRAINT checkout_sessions_check2,
      ADD CONSTRAINT checkout_sessions_completed_at_check
        CHECK ((completed_at IS NOT NULL) = (status IN ('complete', 'void', 'mismatched'))) NOT VALID;
    CREATE INDEX checkout_sessions_mismatched ON checkout_sessions (completed_at) WHERE status = 'mismatched';
  `);
}
