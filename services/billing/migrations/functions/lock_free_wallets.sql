-- Locks those of the given wallets that nothing else has locked, and returns their accounts.
CREATE OR REPLACE FUNCTION lock_free_wallets(p_svc_user_ids text[]) RETURNS text[]
LANGUAGE sql AS $$
  SELECT coalesce(array_agg(f.svc_user_id), '{}') FROM (
    SELECT w.svc_user_id FROM wallets AS w WHERE w.svc_user_id = ANY (p_svc_user_ids) FOR NO KEY UPDATE SKIP LOCKED) AS f
$$;
