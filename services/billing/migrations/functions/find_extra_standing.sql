-- Returns what is left for extra use of an account; all NULL unless its owner has turned it on. Exact under the lock of the
-- wallet.
CREATE OR REPLACE FUNCTION find_extra_standing(p_svc_user_id text, p_at timestamptz) RETURNS extra_standing
LANGUAGE plpgsql STABLE AS $$
DECLARE
  e extra_usage%ROWTYPE;
  x extra_standing;
BEGIN
  SELECT * INTO e FROM extra_usage AS v WHERE v.svc_user_id = p_svc_user_id AND v.is_enabled;
  IF NOT FOUND THEN RETURN x; END IF;
  e := with_current_extra_month(e, p_at);
  x.month_start := e.month_start;
  x.max_micros := e.monthly_max_micros;
  x.used_micros := e.used_micros;
  x.ceiling_left := e.monthly_max_micros - e.used_micros - e.held_micros;
  x.wallet_left := coalesce((SELECT w.balance_micros - w.held_micros FROM wallets AS w WHERE w.svc_user_id = p_svc_user_id), 0);
  x.left_micros := least(x.ceiling_left, x.wallet_left);
  RETURN x;
END $$;
