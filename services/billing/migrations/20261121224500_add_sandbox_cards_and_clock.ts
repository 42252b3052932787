import type { Knex } from 'knex';

/** The sandbox's cards, its question of the bank, and a clock of its own for each subscription. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE sandbox_subscriptions
      ADD card text NOT NULL DEFAULT 'succeeds'
        CHECK (card IN ('succeeds', 'asks_to_confirm', 'declines_renewals', 'declines')),
      ADD when_unpaid text NOT NULL DEFAULT 'canceled' CHECK (when_unpaid IN ('canceled', 'unpaid')),
      -- By how much its clock has been moved ahead of the real one.
      ADD clock_ahead_seconds bigint NOT NULL DEFAULT 0 CHECK (clock_ahead_seconds >= 0),
      ADD failed_attempts int NOT NULL DEFAULT 0 CHECK (failed_attempts >= 0),
      ADD next_attempt_at timestamptz;
    DROP INDEX sandbox_subscriptions_due;
    CREATE INDEX sandbox_subscriptions_due
      ON sandbox_subscriptions ((CASE status WHEN 'past_due' THEN next_attempt_at ELSE period_end END))
      WHERE status IN ('active', 'trialing', 'past_due');

    ALTER TABLE sandbox_sessions
      -- The bank has asked its customer to confirm, and waits for the answer.
      ADD is_challenged boolean NOT NULL DEFAULT false,
      ADD failure text CHECK (failure IN ('declined', 'not_confirmed'));
    ALTER TABLE sandbox_portal_sessions ADD is_challenged boolean NOT NULL DEFAULT false;
  `);
}
