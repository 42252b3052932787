-- Returns the cost of an app's settled requests in the account's current week or month, which starts at the given time;
-- 0 if there are none. Later windows cannot have started.
CREATE OR REPLACE FUNCTION app_window_use(p_svc_user_id text, p_client_id text, p_period text, p_starts_at timestamptz)
RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(CASE
      WHEN d.day > w.first_day THEN d.cost_micros
      WHEN p_period = 'week' THEN d.week_first_micros
      ELSE d.month_first_micros
    END), 0)::bigint
  FROM (SELECT (p_starts_at AT TIME ZONE 'UTC')::date AS first_day) AS w
    JOIN usage_days AS d ON d.svc_user_id = p_svc_user_id AND d.client_id = p_client_id AND d.day >= w.first_day
$$;
