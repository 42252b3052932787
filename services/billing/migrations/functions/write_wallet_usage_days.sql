-- Adds changes of ended API-key requests to the days of their wallets' use. The caller has written the postings, and holds
-- the locks of the wallets.
CREATE OR REPLACE FUNCTION write_wallet_usage_days(p_changes key_use_change[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO wallet_usage_days AS d (svc_user_id, day, paid_micros, last_posted_at)
    SELECT p.svc_user_id, (p.posted_at AT TIME ZONE 'UTC')::date AS day, sum(c.paid), max(p.posted_at)
      FROM unnest(p_changes) AS c
      JOIN ledger_postings AS p ON (p.reference, p.kind) = (c.request_id, c.posting_kind)
      WHERE c.paid <> 0 GROUP BY p.svc_user_id, 2 ORDER BY p.svc_user_id, 2
    ON CONFLICT (svc_user_id, day) DO UPDATE SET paid_micros = d.paid_micros + excluded.paid_micros,
      last_posted_at = greatest(d.last_posted_at, excluded.last_posted_at);
END $$;
