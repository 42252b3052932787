-- Adds requests of API keys, and what the wallet has paid for them, to the day of their members. A key without a member counts for
-- the account. The caller holds the locks of the wallets.
CREATE OR REPLACE FUNCTION write_member_usage(p_key_ids text[], p_svc_user_ids text[], p_requests int[], p_paid bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO member_usage_days AS d (svc_user_id, day, member_id, requests, paid_micros)
    SELECT u.svc_user_id, (billing_now() AT TIME ZONE 'UTC')::date, coalesce(k.member_id, u.svc_user_id), sum(u.requests), sum(u.paid)
      FROM unnest(p_key_ids, p_svc_user_ids, p_requests, p_paid) AS u (key_id, svc_user_id, requests, paid)
      LEFT JOIN key_budgets AS k ON k.key_id = u.key_id
      GROUP BY 1, 2, 3
    ON CONFLICT (svc_user_id, day, member_id) DO UPDATE SET requests = d.requests + excluded.requests,
      paid_micros = d.paid_micros + excluded.paid_micros;
END $$;
