-- Writes the changes of admitted API-key requests to wallets and keys. Skips keys without a change. The caller holds
-- the locks of the wallets.
CREATE OR REPLACE FUNCTION write_key_admissions(p_held wallet_hold[], p_keys key_budgets[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF cardinality(p_held) = 0 THEN RETURN; END IF;
  UPDATE wallets AS w SET held_micros = w.held_micros + d.hold
    FROM (SELECT h.svc_user_id, sum(h.hold) AS hold FROM unnest(p_held) AS h GROUP BY h.svc_user_id) AS d
    WHERE w.svc_user_id = d.svc_user_id;
  INSERT INTO key_budgets AS b (key_id, svc_user_id, minute_start, minute_count, minute_tokens, month_start,
      month_used_micros, month_limit_micros)
    SELECT key_id, svc_user_id, minute_start, minute_count, minute_tokens, month_start, month_used_micros,
        month_limit_micros FROM unnest(p_keys)
    ON CONFLICT (key_id) DO UPDATE SET minute_start = excluded.minute_start, minute_count = excluded.minute_count,
      minute_tokens = excluded.minute_tokens, month_start = excluded.month_start,
      month_used_micros = excluded.month_used_micros, month_limit_micros = excluded.month_limit_micros
    WHERE (b.minute_start, b.minute_count, b.minute_tokens, b.month_start, b.month_limit_micros) IS DISTINCT FROM
      (excluded.minute_start, excluded.minute_count, excluded.minute_tokens, excluded.month_start,
        excluded.month_limit_micros);
END $$;
