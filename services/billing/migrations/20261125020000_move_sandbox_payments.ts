import { sandboxPaymentsMigration } from '@svc/sandbox-payments/migration';
import type { Knex } from 'knex';

/**
 * Moves the tables of sandbox payments into the schema of their package. The previous release reads and writes the same rows
 * through views of the old names. The next release drops the views.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw('LOCK TABLE sandbox_subscriptions, sandbox_sessions, sandbox_portal_sessions');
  await sandboxPaymentsMigration(knex);
  await knex.raw(`
    INSERT INTO sandbox_payments.subscriptions (id, customer, plan_id, interval, status, anchor, period_start, period_end,
      cancel_at_period_end, ended_at, was_reverted, card, when_unpaid, clock_ahead_seconds, failed_attempts, next_attempt_at,
      is_announced)
    SELECT id, customer, plan_id, interval, status, anchor, period_start, period_end,
      cancel_at_period_end, ended_at, was_reverted, card, when_unpaid, clock_ahead_seconds, failed_attempts, next_attempt_at,
      is_announced
    FROM sandbox_subscriptions;

    INSERT INTO sandbox_payments.sessions (id, customer, description, plan_id, interval, amount_micros, currency, success_url,
      cancel_url, expires_at, status, subscription_id, is_challenged, failure, is_announced)
    SELECT id, customer, description, plan_id, interval, amount_micros, currency, success_url,
      cancel_url, expires_at, status, subscription_id, is_challenged, failure, is_announced
    FROM sandbox_sessions;

    INSERT INTO sandbox_payments.portal_sessions (id, customer, return_url, is_challenged, expires_at)
    SELECT id, customer, return_url, is_challenged, expires_at FROM sandbox_portal_sessions;

    DROP TABLE sandbox_sessions, sandbox_subscriptions, sandbox_portal_sessions;
    CREATE VIEW sandbox_subscriptions AS SELECT * FROM sandbox_payments.subscriptions;
    CREATE VIEW sandbox_sessions AS SELECT * FROM sandbox_payments.sessions;
    CREATE VIEW sandbox_portal_sessions AS SELECT * FROM sandbox_payments.portal_sessions;
  `);
};
