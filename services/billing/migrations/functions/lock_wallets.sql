-- Locks wallets in the order of their accounts. The lock guards everything about the API keys of an account: leases, budgets
-- of keys and outcomes.
CREATE OR REPLACE FUNCTION lock_wallets(p_svc_user_ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM wallets AS w WHERE w.svc_user_id = ANY (p_svc_user_ids) ORDER BY w.svc_user_id FOR NO KEY UPDATE;
END $$;
