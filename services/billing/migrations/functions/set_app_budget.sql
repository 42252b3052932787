-- Sets the terms under which an app may use a user's plan: the limit if `p_sets_limit` (NULL removes it), and the pause
-- if given. Takes effect with the next admission. A new limit or period includes the app's use so far in the window.
-- The account's lock excludes admissions and settlements. While the account does not exist, the advisory lock excludes
-- its creation.
CREATE OR REPLACE FUNCTION set_app_budget(
  p_svc_user_id text, p_client_id text, p_sets_limit boolean, p_limit bigint, p_period text, p_expires_at timestamptz,
  p_paused boolean
) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  at timestamptz;
  a accounts%ROWTYPE;
  b app_budgets%ROWTYPE;
  period_before text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('app_budgets ' || p_svc_user_id, 0));
  SELECT * INTO a FROM accounts AS v WHERE v.svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  at := billing_now();
  a := with_current_windows(a, at);
  DELETE FROM app_budgets AS v WHERE v.svc_user_id = p_svc_user_id AND v.client_id = p_client_id RETURNING * INTO b;
  period_before := b.period;
  b.svc_user_id := p_svc_user_id;
  b.client_id := p_client_id;
  b.is_paused := coalesce(p_paused, b.is_paused, false);
  IF p_sets_limit THEN
    b.limit_micros := p_limit;
    b.period := p_period;
    b.expires_at := p_expires_at;
    b.limited_since := CASE WHEN p_limit IS NOT NULL THEN coalesce(b.limited_since, at) END;
  END IF;
  IF b.limit_micros IS NULL THEN
    b.window_start := '-infinity';
    b.used_micros := 0;
    b.held_micros := 0;
    b.uncertain_micros := 0;
    b.total_used_micros := 0;
  ELSIF b.period IS DISTINCT FROM period_before THEN
    b.total_used_micros := CASE WHEN period_before IS NULL THEN 0 ELSE b.total_used_micros END;
    b.window_start := coalesce(CASE b.period WHEN 'week' THEN a.week_start WHEN 'month' THEN a.month_start
      ELSE b.limited_since END, '-infinity');
    b.used_micros := CASE b.period WHEN 'week' THEN app_window_use(p_svc_user_id, p_client_id, 'week', a.week_start)
      WHEN 'month' THEN app_window_use(p_svc_user_id, p_client_id, 'month', a.month_start)
      ELSE b.total_used_micros END;
    SELECT coalesce(sum(r.hold) FILTER (WHERE r.state = 'reserved'), 0),
        coalesce(sum(r.hold) FILTER (WHERE r.state = 'uncertain'), 0)
      INTO b.held_micros, b.uncertain_micros
      FROM (
        SELECT v.*, coalesce(v.budget_micros, v.estimate_micros) AS hold FROM reservations AS v
          WHERE v.state = 'reserved' AND v.svc_user_id = p_svc_user_id AND v.client_id = p_client_id
        UNION ALL
        SELECT v.*, coalesce(v.budget_micros, v.estimate_micros) FROM reservations AS v
          WHERE v.state = 'uncertain' AND v.svc_user_id = p_svc_user_id AND v.client_id = p_client_id
      ) AS r
      WHERE CASE b.period WHEN 'week' THEN r.week_start = b.window_start WHEN 'month' THEN r.month_start = b.window_start
        ELSE r.created_at > b.limited_since END;
  END IF;
  IF b.limit_micros IS NOT NULL OR b.is_paused THEN
    INSERT INTO app_budgets SELECT b.*;
  END IF;
  UPDATE accounts AS v SET has_app_budgets = EXISTS (SELECT FROM app_budgets AS o WHERE o.svc_user_id = p_svc_user_id)
    WHERE v.svc_user_id = p_svc_user_id;
END $$;
