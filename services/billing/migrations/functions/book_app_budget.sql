-- Books the change of a delegated reservation on its app's budget, if that has a limit: in the window of the admission,
-- and in the total. A settled request counts at its cost, up to its hold. The caller holds the locks of the account and
-- the reservation, and passes the reservation's row as it was before the change.
CREATE OR REPLACE FUNCTION book_app_budget(r reservations, p_state text, p_cost bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  hold bigint := coalesce(r.budget_micros, r.estimate_micros);
  before bigint := CASE r.state WHEN 'settled' THEN hold ELSE 0 END;
  settled bigint := CASE p_state WHEN 'settled' THEN least(r.budget_micros, p_cost) ELSE 0 END - before;
BEGIN
  UPDATE app_budgets AS b SET
      used_micros = b.used_micros + CASE WHEN w.is_current THEN settled ELSE 0 END,
      held_micros = b.held_micros - CASE WHEN w.is_current AND r.state = 'reserved' THEN hold ELSE 0 END,
      uncertain_micros = b.uncertain_micros + CASE WHEN w.is_current THEN
        CASE p_state WHEN 'uncertain' THEN hold ELSE 0 END - CASE r.state WHEN 'uncertain' THEN hold ELSE 0 END ELSE 0 END,
      total_used_micros = b.total_used_micros + CASE WHEN r.created_at > b.limited_since THEN settled ELSE 0 END
    FROM (
      SELECT v.client_id, CASE v.period WHEN 'week' THEN v.window_start = r.week_start
        WHEN 'month' THEN v.window_start = r.month_start ELSE r.created_at > v.limited_since END AS is_current
      FROM app_budgets AS v WHERE v.svc_user_id = r.svc_user_id AND v.client_id = r.client_id AND v.limit_micros IS NOT NULL
    ) AS w
    WHERE b.svc_user_id = r.svc_user_id AND b.client_id = w.client_id;
END $$;
