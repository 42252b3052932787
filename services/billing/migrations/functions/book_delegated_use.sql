-- Books the change of one delegated reservation: the account's place and windows, the app's budget, and the ledger. The days of
-- use follow the reservation by a trigger.
-- The caller holds the locks of the account and of the reservation, whose row is passed as it was before.
CREATE OR REPLACE FUNCTION book_delegated_use(r reservations, p_state text, p_cost bigint, p_currency text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  booked bigint := coalesce(p_cost, 0) - coalesce(r.cost_micros, 0);
  -- Against the caps counts the cost, or the estimate while the outcome is uncertain.
  counted bigint := CASE p_state WHEN 'uncertain' THEN r.estimate_micros ELSE coalesce(p_cost, 0) END
    - CASE r.state WHEN 'uncertain' THEN r.estimate_micros ELSE coalesce(r.cost_micros, 0) END;
  is_budgeted boolean;
BEGIN
  UPDATE accounts AS a SET pending = a.pending - (r.state = 'reserved')::int,
      week_used_micros = a.week_used_micros + CASE a.week_start WHEN r.week_start THEN counted ELSE 0 END,
      month_used_micros = a.month_used_micros + CASE a.month_start WHEN r.month_start THEN counted ELSE 0 END
    WHERE a.svc_user_id = r.svc_user_id RETURNING a.has_app_budgets INTO is_budgeted;
  IF is_budgeted THEN PERFORM book_app_budget(r, p_state, p_cost); END IF;
  PERFORM ledger_post(CASE r.state WHEN 'settled' THEN 'usage_adjustment' ELSE 'usage' END, r.request_id, r.svc_user_id,
    p_currency, ARRAY['usage', 'allowance'], ARRAY[booked, -booked]);
END $$;
