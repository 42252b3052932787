-- Returns the amount that an API-key request may cost beyond its hold: the available balance of the wallet, within the key's
-- monthly limit and that of its member. The caller holds the lock of the wallet and has written all changes so far.
CREATE OR REPLACE FUNCTION extra_key_micros(p_svc_user_id text, p_key_id text, p_month_start timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  available bigint;
  left_of_month bigint;
  left_of_member bigint;
BEGIN
  SELECT w.balance_micros - w.held_micros INTO available FROM wallets AS w WHERE w.svc_user_id = p_svc_user_id;
  SELECT k.month_limit_micros - k.month_used_micros - key_held_micros(p_svc_user_id, p_key_id, p_month_start)
    INTO left_of_month FROM key_budgets AS k WHERE k.key_id = p_key_id AND k.month_start = p_month_start;
  SELECT member_left_micros(p_svc_user_id, k.member_id, p_month_start, NULL) INTO left_of_member
    FROM key_budgets AS k WHERE k.key_id = p_key_id AND k.month_start = p_month_start;
  -- Without a limit, the month leaves everything.
  RETURN greatest(least(available, left_of_month, left_of_member), 0);
END $$;
