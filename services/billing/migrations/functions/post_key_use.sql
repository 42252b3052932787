-- Posts the cost of requests of one wallet, and adds what it paid to the wallet's day; `p_extra` of it for use beyond a plan's
-- caps. The caller holds the lock of the wallet.
CREATE OR REPLACE FUNCTION post_key_use(
  p_kind posting_kind, p_reference text, p_svc_user_id text, p_currency text, p_income bigint, p_paid bigint, p_id bigint,
  p_extra bigint DEFAULT 0
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE at timestamptz := billing_now();
BEGIN
  PERFORM ledger_post(p_kind, p_reference, p_svc_user_id, p_currency, -p_paid, p_income => p_income,
    p_write_offs => p_paid - p_income, p_id => p_id);
  IF p_paid = 0 THEN RETURN; END IF;
  INSERT INTO wallet_usage_days AS d (svc_user_id, day, paid_micros, extra_micros, last_posted_at)
    VALUES (p_svc_user_id, (at AT TIME ZONE 'UTC')::date, p_paid, p_extra, at)
    ON CONFLICT (svc_user_id, day) DO UPDATE SET paid_micros = d.paid_micros + excluded.paid_micros,
      extra_micros = d.extra_micros + excluded.extra_micros, last_posted_at = greatest(d.last_posted_at, excluded.last_posted_at);
END $$;
