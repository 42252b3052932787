import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** In the order of their use. */
const FUNCTIONS = [
  'with_current_budget_window',
  'app_budget_verdict',
  'app_window_use',
  'set_app_budget',
  'list_app_standings',
  'entitle_account',
  'refuse_delegated',
  'admit_delegated_requests',
  'book_app_budget',
  'settle_delegated_requests',
  'usage_days_follow',
  'previous_release',
];

/**
 * Adds budgets of apps: the limit that a person sets to an app's use of their plan, and the pause of a connection. Both are part of
 * the one admission of delegated requests.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE app_budgets (
      svc_user_id text NOT NULL,
      client_id text NOT NULL,
      is_paused boolean NOT NULL,
      limit_micros bigint CHECK (limit_micros >= 0),
      period text CHECK (period IN ('week', 'month', 'total')),
      expires_at timestamptz,
      -- The period 'total' counts from here, whatever the period was meanwhile.
      limited_since timestamptz,
      -- The counters are those of the window that begins here; infinitely early before the first request.
      window_start timestamptz NOT NULL DEFAULT '-infinity',
      used_micros bigint NOT NULL DEFAULT 0 CHECK (used_micros >= 0),
      held_micros bigint NOT NULL DEFAULT 0 CHECK (held_micros >= 0),
      uncertain_micros bigint NOT NULL DEFAULT 0 CHECK (uncertain_micros >= 0),
      total_used_micros bigint NOT NULL DEFAULT 0 CHECK (total_used_micros >= 0),
      PRIMARY KEY (svc_user_id, client_id),
      CHECK ((limit_micros IS NULL) = (period IS NULL)),
      CHECK ((limit_micros IS NULL) = (limited_since IS NULL)),
      CHECK (expires_at IS NULL OR limit_micros IS NOT NULL)
    ) WITH (fillfactor = 50);
    -- False spares admission and settlement the look-up of a budget.
    ALTER TABLE accounts ADD COLUMN has_app_budgets boolean NOT NULL DEFAULT false;
    -- Of a delegated request: its highest cost while it is open, what counts for the app's budget once it is settled.
    ALTER TABLE reservations ADD COLUMN budget_micros bigint;
    -- The part of a day's cost that belongs to a window that began on that day.
    ALTER TABLE usage_days
      ADD COLUMN week_first_micros bigint NOT NULL DEFAULT 0,
      ADD COLUMN month_first_micros bigint NOT NULL DEFAULT 0;
    DROP FUNCTION IF EXISTS admit_delegated_requests(text[], text[], text[], text[], bigint[], text[], text[], interval);
  `);
  for (const name of FUNCTIONS) {
    await knex.raw(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
  }
};
