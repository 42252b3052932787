import type { Knex } from 'knex';

/**
 * Adds budgets of apps: the limit that a person sets to an app's use of their plan, and the pause of a connection. Both become part
 * of the one admission of delegated requests.
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
  `);
};
