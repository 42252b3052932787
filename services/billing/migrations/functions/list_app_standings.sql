-- Lists the standings of an account's apps: the given ones, or all that have a limit or are paused. Without a limit,
-- the use is that of the current week.
CREATE OR REPLACE FUNCTION list_app_standings(p_svc_user_id text, p_client_ids text[]) RETURNS TABLE (
  client_id text, is_paused boolean, limit_micros bigint, period text, expires_at timestamptz, used_micros bigint,
  held_micros bigint, resets_at timestamptz
)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  a accounts%ROWTYPE;
BEGIN
  SELECT * INTO a FROM accounts AS v WHERE v.svc_user_id = p_svc_user_id;
  a := with_current_windows(a, billing_now());
  RETURN QUERY
    SELECT asked.client_id, coalesce(w.is_paused, false), w.limit_micros, w.period, w.expires_at,
      CASE WHEN w.limit_micros IS NULL THEN app_window_use(p_svc_user_id, asked.client_id, 'week', a.week_start)
        ELSE w.used_micros END,
      CASE WHEN w.limit_micros IS NULL THEN 0 ELSE w.held_micros + w.uncertain_micros END,
      CASE w.period WHEN 'week' THEN a.week_end WHEN 'month' THEN a.month_end END
    FROM (
      SELECT unnest(p_client_ids) AS client_id
      UNION ALL
      SELECT v.client_id FROM app_budgets AS v WHERE p_client_ids IS NULL AND v.svc_user_id = p_svc_user_id
    ) AS asked
    LEFT JOIN app_budgets AS b ON b.svc_user_id = p_svc_user_id AND b.client_id = asked.client_id
    CROSS JOIN LATERAL with_current_budget_window(b, a.week_start, a.month_start) AS w
    ORDER BY asked.client_id;
END $$;
