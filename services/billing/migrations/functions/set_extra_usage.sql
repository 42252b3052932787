-- Turns extra use of an account on or off, and sets its monthly ceiling. Takes effect with the next admission: the lock of the
-- wallet excludes them. Without a wallet nothing can be admitted at its cost.
CREATE OR REPLACE FUNCTION set_extra_usage(p_svc_user_id text, p_is_enabled boolean, p_monthly_max bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_wallets(ARRAY[p_svc_user_id]);
  INSERT INTO extra_usage AS e (svc_user_id, is_enabled, monthly_max_micros, month_start)
    VALUES (p_svc_user_id, p_is_enabled, p_monthly_max, date_trunc('month', billing_now(), 'UTC'))
    ON CONFLICT (svc_user_id) DO UPDATE SET is_enabled = excluded.is_enabled, monthly_max_micros = excluded.monthly_max_micros;
END $$;
