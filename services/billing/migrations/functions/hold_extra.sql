-- Holds the highest cost of a delegated request from the wallet, and from the ceiling of its month. The caller holds the lock of
-- the wallet.
CREATE OR REPLACE FUNCTION hold_extra(p_svc_user_id text, p_month_start timestamptz, p_hold bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallets AS w SET held_micros = w.held_micros + p_hold WHERE w.svc_user_id = p_svc_user_id;
  UPDATE extra_usage AS e SET month_start = p_month_start,
      used_micros = CASE e.month_start WHEN p_month_start THEN e.used_micros ELSE 0 END,
      held_micros = CASE e.month_start WHEN p_month_start THEN e.held_micros ELSE 0 END + p_hold
    WHERE e.svc_user_id = p_svc_user_id;
END $$;
