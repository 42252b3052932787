-- Adds requests of API keys, and what the wallet has paid for them, to the day of their members. A key without a member counts for
-- the account. The caller holds the locks of the wallets.
CREATE OR REPLACE FUNCTION write_member_usage(p_key_ids text[], p_svc_user_ids text[], p_requests int[], p_paid bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO member_usage_days AS d (svc_user_id, day, member_id, requests, paid_micros)
    -- A look-up for each key. For a join, a plan may read the keys of all accounts.
    SELECT u.svc_user_id, (billing_now() AT TIME ZONE 'UTC')::date, coalesce(u.member_id, u.svc_user_id), sum(u.requests), sum(u.paid)
      FROM (SELECT t.*, (SELECT k.member_id FROM key_budgets AS k WHERE k.key_id = t.key_id) AS member_id
        FROM unnest(p_key_ids, p_svc_user_ids, p_requests, p_paid) AS t (key_id, svc_user_id, requests, paid)) AS u
      GROUP BY 1, 2, 3
    ON CONFLICT (svc_user_id, day, member_id) DO UPDATE SET requests = d.requests + excluded.requests,
      paid_micros = d.paid_micros + excluded.paid_micros;
END $$;
