-- Copies the entitlement of a subscription to the account on which admission decides. No change of plan, interval,
-- period or subscription forgives use: a running window keeps its start and its use, and ends with the new terms. Its
-- reservations, app budgets and alerts follow, because they name the window by its start.
-- No week becomes shorter than seven days and no running month shorter than 28, so that moved anchors start no more
-- windows than time does. Use of a window that has ended is over, and the next one starts after that end.
-- Takes the advisory lock of `set_app_budget`, which may run before the account exists.
CREATE OR REPLACE FUNCTION entitle_account(
  p_svc_user_id text, p_status text, p_plan_id text, p_past_due_since timestamptz, p_anchor timestamptz, p_interval text,
  p_period_start timestamptz, p_period_end timestamptz, p_paid_by text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := billing_now();
  a accounts%ROWTYPE;
  week record;
  month record;
  starts_at timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('app_budgets ' || p_svc_user_id, 0));
  SELECT * INTO week FROM weekly_window(p_anchor, at);
  SELECT * INTO month FROM monthly_window(p_anchor, p_interval, p_period_start, p_period_end, at);
  SELECT * INTO a FROM accounts AS v WHERE v.svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    INSERT INTO accounts (svc_user_id, status, plan_id, past_due_since, anchor, interval, period_start, period_end,
        week_start, week_end, month_start, month_end, has_app_budgets, paid_by)
      VALUES (p_svc_user_id, p_status, p_plan_id, p_past_due_since, p_anchor, p_interval, p_period_start, p_period_end,
        week.starts_at, week.ends_at, month.starts_at, month.ends_at,
        EXISTS (SELECT FROM app_budgets AS b WHERE b.svc_user_id = p_svc_user_id), p_paid_by);
    RETURN;
  END IF;

  IF p_anchor <> a.anchor THEN
    starts_at := CASE WHEN at < a.week_end THEN a.week_start ELSE greatest(week.starts_at, a.week_end) END;
    SELECT w.ends_at INTO a.week_end
      FROM weekly_window(p_anchor, greatest(at, starts_at + interval '7 days' - interval '1 microsecond')) AS w;
    IF starts_at <> a.week_start THEN
      a.week_start := starts_at;
      a.week_used_micros := 0;
    END IF;
  END IF;

  -- The paid month may also move without the anchor. If the clock steps back, the later window stays current.
  IF p_anchor <> a.anchor OR month.starts_at >= a.month_start THEN
    starts_at := CASE WHEN at < a.month_end OR month.starts_at <= a.month_start THEN a.month_start
      ELSE greatest(month.starts_at, a.month_end) END;
    IF starts_at = month.starts_at THEN
      a.month_end := month.ends_at;
    ELSE
      SELECT w.ends_at INTO a.month_end
        FROM monthly_window(p_anchor, p_interval, p_period_start, p_period_end,
          greatest(at, starts_at + interval '28 days' - interval '1 microsecond')) AS w;
    END IF;
    IF starts_at <> a.month_start THEN
      a.month_start := starts_at;
      a.month_used_micros := 0;
    END IF;
  END IF;

  UPDATE accounts AS v SET status = p_status, plan_id = p_plan_id, past_due_since = p_past_due_since,
      anchor = p_anchor, interval = p_interval, period_start = p_period_start, period_end = p_period_end, paid_by = p_paid_by,
      week_start = a.week_start, week_end = a.week_end, week_used_micros = a.week_used_micros,
      month_start = a.month_start, month_end = a.month_end, month_used_micros = a.month_used_micros
    WHERE v.svc_user_id = p_svc_user_id;
END $$;
