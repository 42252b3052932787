-- Returns the amount that an API-key request may cost beyond its hold: the available balance of the wallet, within the
-- key's monthly limit, after changes that are not written yet. The caller holds the lock of the wallet.
CREATE OR REPLACE FUNCTION extra_key_micros(r reservations, p_changes key_use_change[]) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  available bigint;
  left_of_month bigint;
BEGIN
  SELECT w.balance_micros - w.held_micros INTO available FROM wallets AS w WHERE w.svc_user_id = r.svc_user_id;
  available := available + coalesce((SELECT sum(c.freed - c.paid) FROM unnest(p_changes) AS c
    WHERE c.svc_user_id = r.svc_user_id), 0);
  SELECT k.month_limit_micros - k.month_used_micros - key_held_micros(r.key_id, r.month_start)
      - coalesce((SELECT sum(c.counted - c.unreserved) FROM unnest(p_changes) AS c
          WHERE c.key_id = r.key_id AND c.month_start = r.month_start), 0)
    INTO left_of_month FROM key_budgets AS k WHERE k.key_id = r.key_id AND k.month_start = r.month_start;
  -- Without a limit, the month leaves everything.
  RETURN greatest(least(available, left_of_month), 0);
END $$;
