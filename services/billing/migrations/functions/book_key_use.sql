-- Books the change of one API-key reservation: hold, wallet, ledger, the key's month. Returns what is written off in all of
-- the request's cost. The wallet gives at most the hold and what is available beside it, and the key at most what its
-- monthly limit leaves; the rest is our loss. A lower true cost lowers the loss first. An end corrects the tokens that the
-- request reserved of the key's minute, if that minute still runs; `p_tokens` is NULL if the usage is not known.
-- The caller holds the lock of the reservation, whose row is passed as it was before.
CREATE OR REPLACE FUNCTION book_key_use(
  r reservations, p_state text, p_cost bigint, p_currency text, p_tokens bigint
) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  w wallets%ROWTYPE;
  k key_budgets%ROWTYPE;
  is_end boolean := p_state IN ('settled', 'released');
  freed bigint := CASE WHEN is_end AND r.state IN ('reserved', 'uncertain') THEN r.estimate_micros ELSE 0 END;
  cost bigint := coalesce(p_cost, 0);
  cost_before bigint := coalesce(r.cost_micros, 0);
  paid_before bigint := cost_before - r.written_off_micros;
  -- Already counted in the wallet's holds or payments, and in the key's month.
  covered bigint := freed + paid_before;
  paid bigint := least(cost, covered);
  counted bigint;
  tokens bigint := CASE p_state WHEN 'released' THEN 0 ELSE p_tokens END;
BEGIN
  SELECT * INTO w FROM wallets AS v WHERE v.svc_user_id = r.svc_user_id FOR NO KEY UPDATE;
  SELECT * INTO k FROM key_budgets AS b WHERE b.key_id = r.key_id FOR NO KEY UPDATE;
  IF cost > covered THEN
    paid := least(cost, covered + greatest(w.balance_micros - w.held_micros, 0));
    IF k.month_limit_micros IS NOT NULL AND k.month_start = r.month_start THEN
      paid := greatest(covered, least(paid,
        k.month_limit_micros - k.month_used_micros - key_held_micros(r.key_id, r.month_start) + covered));
    END IF;
  END IF;
  -- Uncertain requests count at their estimate, as settled ones do at what was paid.
  counted := CASE p_state WHEN 'uncertain' THEN r.estimate_micros ELSE paid END
    - CASE r.state WHEN 'uncertain' THEN r.estimate_micros ELSE paid_before END;
  PERFORM ledger_post(CASE r.state WHEN 'settled' THEN 'adjustment' ELSE 'settlement' END, r.request_id, r.svc_user_id,
    p_currency, ARRAY['wallet_available', 'write_offs', 'income'],
    ARRAY[paid_before - paid, (cost_before - paid_before) - (cost - paid), cost - cost_before]);
  UPDATE wallets AS v SET held_micros = v.held_micros - freed, balance_micros = v.balance_micros + paid_before - paid
    WHERE v.svc_user_id = r.svc_user_id AND (freed <> 0 OR paid <> paid_before);
  IF is_end AND r.state IN ('reserved', 'uncertain') AND tokens <> r.tokens THEN
    UPDATE key_budgets AS b SET minute_tokens = greatest(b.minute_tokens + tokens - r.tokens, 0)
      WHERE b.key_id = r.key_id AND b.minute_start = r.minute_start;
  END IF;
  IF counted <> 0 THEN
    UPDATE key_budgets AS b SET month_used_micros = b.month_used_micros + counted
      WHERE b.key_id = r.key_id AND b.month_start = r.month_start;
  END IF;
  RETURN cost - paid;
END $$;
