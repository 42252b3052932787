import type { Knex } from 'knex';

/** Use of plans: the windows and caps of accounts, the limits of apps, and extra use. Each row has every number that is checked. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE accounts (
      svc_user_id text PRIMARY KEY,
      status text NOT NULL,
      plan_id text NOT NULL,
      past_due_since timestamptz,
      -- Whole milliseconds, so that a window is the same instant in every language.
      anchor timestamptz NOT NULL,
      interval text NOT NULL,
      period_start timestamptz NOT NULL,
      period_end timestamptz NOT NULL,
      -- Settled cost, plus the estimates of uncertain requests, of those admitted in the window.
      week_start timestamptz NOT NULL,
      week_end timestamptz NOT NULL,
      week_used_micros bigint NOT NULL DEFAULT 0,
      month_start timestamptz NOT NULL,
      month_end timestamptz NOT NULL,
      month_used_micros bigint NOT NULL DEFAULT 0,
      pending int NOT NULL DEFAULT 0,
      -- False spares admission and settlement the look-up of a budget.
      has_app_budgets boolean NOT NULL DEFAULT false,
      -- The organization whose seat the plan is. NULL for a plan that the account pays.
      paid_by text,
      CONSTRAINT accounts_sound CHECK (account_is_sound(anchor, interval, period_start, period_end, week_used_micros,
        month_used_micros, pending))
    ) WITH (fillfactor = 50);

    -- The limit that a person sets to an app's use of their plan, and the pause of a connection.
    CREATE TABLE app_budgets (
      svc_user_id text NOT NULL,
      client_id text NOT NULL,
      is_paused boolean NOT NULL,
      limit_micros bigint CHECK (limit_micros >= 0),
      period text CHECK (period IN ('week', 'month', 'total')),
      expires_at timestamptz,
      -- The period 'total' counts from here, regardless of the periods in between.
      limited_since timestamptz,
      -- The counters are those of the window that begins here; infinitely early before the first request.
      window_start timestamptz NOT NULL DEFAULT '-infinity',
      used_micros bigint NOT NULL DEFAULT 0 CHECK (used_micros >= 0),
      held_micros bigint NOT NULL DEFAULT 0 CHECK (held_micros >= 0),
      uncertain_micros bigint NOT NULL DEFAULT 0 CHECK (uncertain_micros >= 0),
      total_used_micros bigint NOT NULL DEFAULT 0 CHECK (total_used_micros >= 0),
      PRIMARY KEY (svc_user_id, client_id),
      CONSTRAINT app_budgets_period CHECK ((limit_micros IS NULL) = (period IS NULL)),
      CONSTRAINT app_budgets_since CHECK ((limit_micros IS NULL) = (limited_since IS NULL)),
      CONSTRAINT app_budgets_expiry CHECK (expires_at IS NULL OR limit_micros IS NOT NULL)
    ) WITH (fillfactor = 50);

    -- Use beyond the plan's caps, which the wallet pays up to a ceiling per calendar month (UTC). The counters are those of the
    -- month that begins here. Changes only under the lock of the wallet.
    CREATE TABLE extra_usage (
      svc_user_id text PRIMARY KEY,
      is_enabled boolean NOT NULL,
      monthly_max_micros bigint NOT NULL CHECK (monthly_max_micros >= 0),
      month_start timestamptz NOT NULL,
      used_micros bigint NOT NULL DEFAULT 0 CHECK (used_micros >= 0),
      held_micros bigint NOT NULL DEFAULT 0 CHECK (held_micros >= 0)
    ) WITH (fillfactor = 50);

    -- The part of the month's ceiling, of the wallet, and of both that is left for extra use. All null if that is off.
    CREATE TYPE extra_standing AS (
      month_start timestamptz, max_micros bigint, used_micros bigint, ceiling_left bigint, wallet_left bigint, left_micros bigint);
  `);
};
