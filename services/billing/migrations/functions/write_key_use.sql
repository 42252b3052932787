-- Writes the changes of ended API-key requests to the ledger, and then to wallets and to the months and minutes of keys. A
-- month or minute that is over keeps its counts. Locks the wallets last, because every admission that they pay waits.
CREATE OR REPLACE FUNCTION write_key_use(p_changes key_use_change[], p_currency text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ledger_post_many(array_agg(c.posting_kind), array_agg(c.request_id), array_agg(c.svc_user_id), p_currency,
      ARRAY['wallet_available', 'write_offs', 'income'], array_agg(ARRAY[-c.paid, c.written_off, c.income]))
    FROM unnest(p_changes) AS c WHERE c.paid <> 0 OR c.written_off <> 0 OR c.income <> 0
    HAVING count(*) > 0;
  PERFORM lock_wallets(ARRAY(SELECT c.svc_user_id FROM unnest(p_changes) AS c));
  UPDATE wallets AS w SET held_micros = w.held_micros - d.freed, balance_micros = w.balance_micros - d.paid
    FROM (SELECT c.svc_user_id, sum(c.freed) AS freed, sum(c.paid) AS paid FROM unnest(p_changes) AS c
          GROUP BY c.svc_user_id) AS d
    WHERE w.svc_user_id = d.svc_user_id AND (d.freed <> 0 OR d.paid <> 0);
  UPDATE key_budgets AS b SET month_used_micros = b.month_used_micros + d.counted,
      minute_tokens = greatest(b.minute_tokens + d.tokens, 0)
    FROM (SELECT c.key_id, coalesce(sum(c.counted) FILTER (WHERE k.month_start = c.month_start), 0) AS counted,
            coalesce(sum(c.tokens) FILTER (WHERE k.minute_start = c.minute_start), 0) AS tokens
          FROM unnest(p_changes) AS c JOIN key_budgets AS k ON k.key_id = c.key_id GROUP BY c.key_id) AS d
    WHERE b.key_id = d.key_id AND (d.counted <> 0 OR d.tokens <> 0);
END $$;
