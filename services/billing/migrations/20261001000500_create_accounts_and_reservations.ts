import type { Knex } from 'knex';

/**
 * The rows that admission decides on. An account's row carries every number that is checked, as counting reservations
 * inside the statement that locks would read a stale snapshot.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE accounts (
      svc_user_id text PRIMARY KEY,
      status text NOT NULL,
      plan_id text NOT NULL,
      past_due_since timestamptz,
      -- Whole milliseconds, so that a window is the same instant in every language.
      anchor timestamptz NOT NULL CHECK (date_trunc('milliseconds', anchor) = anchor),
      interval text NOT NULL CHECK (interval IN ('month', 'year')),
      period_start timestamptz NOT NULL,
      period_end timestamptz NOT NULL CHECK (period_end > period_start),
      -- Settled cost, plus the estimates of uncertain requests, of those admitted in the window.
      week_start timestamptz NOT NULL,
      week_end timestamptz NOT NULL,
      week_used_micros bigint NOT NULL DEFAULT 0 CHECK (week_used_micros >= 0),
      month_start timestamptz NOT NULL,
      month_end timestamptz NOT NULL,
      month_used_micros bigint NOT NULL DEFAULT 0 CHECK (month_used_micros >= 0),
      pending int NOT NULL DEFAULT 0 CHECK (pending BETWEEN 0 AND 2)
    ) WITH (fillfactor = 50);

    CREATE TABLE key_budgets (
      key_id text PRIMARY KEY,
      svc_user_id text NOT NULL,
      -- The minute begins with its first request, so that no boundary of the clock lets twice as many through.
      minute_start timestamptz NOT NULL,
      minute_count int NOT NULL DEFAULT 0 CHECK (minute_count >= 0),
      -- Calendar months in UTC.
      month_start timestamptz NOT NULL,
      month_used_micros bigint NOT NULL DEFAULT 0 CHECK (month_used_micros >= 0)
    ) WITH (fillfactor = 50);

    CREATE TABLE reservations (
      request_id text PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('delegated', 'api_key')),
      svc_user_id text NOT NULL,
      client_id text CHECK ((client_id IS NOT NULL) = (kind = 'delegated')),
      key_id text CHECK ((key_id IS NOT NULL) = (kind = 'api_key')),
      service text CHECK ((service IS NOT NULL) = (kind = 'delegated')),
      idempotency_key_hash bytea,
      state text NOT NULL DEFAULT 'reserved' CHECK (state IN ('reserved', 'settled', 'released', 'uncertain')),
      -- For an API key: what is held in the wallet.
      estimate_micros bigint NOT NULL CHECK (estimate_micros >= 0),
      cost_micros bigint CHECK (cost_micros >= 0),
      settled_by text CHECK (settled_by IN ('usage', 'estimate')),
      week_start timestamptz CHECK ((week_start IS NOT NULL) = (kind = 'delegated')),
      month_start timestamptz NOT NULL,
      created_at timestamptz NOT NULL,
      uncertain_at timestamptz,
      ended_at timestamptz,
      adjusted_at timestamptz,
      CONSTRAINT reservations_settled_has_cost CHECK ((state = 'settled') = (cost_micros IS NOT NULL)),
      CONSTRAINT reservations_settled_has_source CHECK ((state = 'settled') = (settled_by IS NOT NULL)),
      CONSTRAINT reservations_end_has_time CHECK ((state IN ('settled', 'released')) = (ended_at IS NOT NULL))
    ) WITH (fillfactor = 80);
    -- Small whatever the history: only open reservations are in them.
    CREATE INDEX reservations_reserved ON reservations (created_at) WHERE state = 'reserved';
    CREATE INDEX reservations_uncertain ON reservations (uncertain_at) WHERE state = 'uncertain';
    CREATE UNIQUE INDEX reservations_idempotency_key ON reservations (svc_user_id, client_id, idempotency_key_hash)
      WHERE idempotency_key_hash IS NOT NULL;

    -- Usage told for a request that was never admitted: kept until somebody has looked at it.
    CREATE TABLE unadmitted_usage (
      request_id text NOT NULL,
      event_id uuid NOT NULL,
      fact jsonb NOT NULL,
      received_at timestamptz NOT NULL,
      PRIMARY KEY (request_id, event_id)
    );

    -- Takes over what the payment provider says of the account's subscription. A new anchor begins new windows; with the
    -- same one a window in progress keeps its use, and a later paid month ends it.
    CREATE FUNCTION entitle_account(
      p_svc_user_id text, p_status text, p_plan_id text, p_past_due_since timestamptz,
      p_anchor timestamptz, p_interval text, p_period_start timestamptz, p_period_end timestamptz)
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      at timestamptz := billing_now();
      week record;
      month record;
    BEGIN
      SELECT * INTO week FROM weekly_window(p_anchor, at);
      SELECT * INTO month FROM monthly_window(p_anchor, p_interval, p_period_start, p_period_end, at);
      INSERT INTO accounts AS a (svc_user_id, status, plan_id, past_due_since, anchor, interval, period_start, period_end,
          week_start, week_end, month_start, month_end)
        VALUES (p_svc_user_id, p_status, p_plan_id, p_past_due_since, p_anchor, p_interval, p_period_start, p_period_end,
          week.starts_at, week.ends_at, month.starts_at, month.ends_at)
        ON CONFLICT (svc_user_id) DO UPDATE SET
          status = p_status, plan_id = p_plan_id, past_due_since = p_past_due_since,
          anchor = p_anchor, interval = p_interval, period_start = p_period_start, period_end = p_period_end,
          week_start = CASE WHEN a.anchor = p_anchor THEN a.week_start ELSE week.starts_at END,
          week_end = CASE WHEN a.anchor = p_anchor THEN a.week_end ELSE week.ends_at END,
          week_used_micros = CASE WHEN a.anchor = p_anchor THEN a.week_used_micros ELSE 0 END,
          month_start = CASE WHEN a.anchor = p_anchor THEN greatest(a.month_start, month.starts_at) ELSE month.starts_at END,
          month_end = CASE WHEN a.anchor = p_anchor AND a.month_start > month.starts_at THEN a.month_end ELSE month.ends_at END,
          month_used_micros = CASE WHEN a.anchor = p_anchor AND a.month_start >= month.starts_at THEN a.month_used_micros ELSE 0 END;
    END $$;
  `);
}
