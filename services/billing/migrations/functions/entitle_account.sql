-- Copies the entitlement of a subscription to the account on which admission decides. Another anchor starts new
-- windows.
-- Takes the advisory lock of `set_app_budget`, which may run before the account exists.
CREATE OR REPLACE FUNCTION entitle_account(
  p_svc_user_id text, p_status text, p_plan_id text, p_past_due_since timestamptz, p_anchor timestamptz, p_interval text,
  p_period_start timestamptz, p_period_end timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := billing_now();
  anchor_before timestamptz;
  week record;
  month record;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('app_budgets ' || p_svc_user_id, 0));
  SELECT * INTO week FROM weekly_window(p_anchor, at);
  SELECT * INTO month FROM monthly_window(p_anchor, p_interval, p_period_start, p_period_end, at);
  SELECT a.anchor INTO anchor_before FROM accounts AS a WHERE a.svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  INSERT INTO accounts AS a (svc_user_id, status, plan_id, past_due_since, anchor, interval, period_start, period_end,
      week_start, week_end, month_start, month_end, has_app_budgets)
    VALUES (p_svc_user_id, p_status, p_plan_id, p_past_due_since, p_anchor, p_interval, p_period_start, p_period_end,
      week.starts_at, week.ends_at, month.starts_at, month.ends_at,
      EXISTS (SELECT FROM app_budgets AS b WHERE b.svc_user_id = p_svc_user_id))
    ON CONFLICT (svc_user_id) DO UPDATE SET
      status = p_status, plan_id = p_plan_id, past_due_since = p_past_due_since,
      anchor = p_anchor, interval = p_interval, period_start = p_period_start, period_end = p_period_end,
      week_start = CASE WHEN a.anchor = p_anchor THEN a.week_start ELSE week.starts_at END,
      week_end = CASE WHEN a.anchor = p_anchor THEN a.week_end ELSE week.ends_at END,
      week_used_micros = CASE WHEN a.anchor = p_anchor THEN a.week_used_micros ELSE 0 END,
      month_start = CASE WHEN a.anchor = p_anchor THEN greatest(a.month_start, month.starts_at) ELSE month.starts_at END,
      month_end = CASE WHEN a.anchor = p_anchor AND a.month_start > month.starts_at THEN a.month_end ELSE month.ends_at END,
      month_used_micros = CASE WHEN a.anchor = p_anchor AND a.month_start >= month.starts_at THEN a.month_used_micros ELSE 0 END;
  -- The first day of the new windows may be that of earlier ones, whose use they do not take over.
  IF anchor_before <> p_anchor THEN
    UPDATE usage_days AS d SET week_first_micros = 0
      WHERE d.svc_user_id = p_svc_user_id AND d.day = (week.starts_at AT TIME ZONE 'UTC')::date AND d.week_first_micros <> 0;
    UPDATE usage_days AS d SET month_first_micros = 0
      WHERE d.svc_user_id = p_svc_user_id AND d.day = (month.starts_at AT TIME ZONE 'UTC')::date AND d.month_first_micros <> 0;
  END IF;
END $$;
