-- Moves an account's windows forward if one has ended.
CREATE OR REPLACE FUNCTION roll_account_windows(p_svc_user_id text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE a accounts%ROWTYPE;
BEGIN
  SELECT * INTO a FROM accounts
    WHERE svc_user_id = p_svc_user_id AND (p_at >= week_end OR p_at >= month_end) FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  a := with_current_windows(a, p_at);
  UPDATE accounts SET week_start = a.week_start, week_end = a.week_end, week_used_micros = a.week_used_micros,
      month_start = a.month_start, month_end = a.month_end, month_used_micros = a.month_used_micros
    WHERE svc_user_id = p_svc_user_id;
END $$;
