-- Books the change of a delegated reservation that the wallet pays. An open one keeps its hold, also while its outcome is
-- unknown. The wallet pays the cost up to the hold, so that neither it nor the ceiling is ever exceeded; the rest is written off.
-- Returns what this change wrote off. The caller holds the locks of wallet and reservation, and passes the reservation's row as
-- it was before the change.
CREATE OR REPLACE FUNCTION settle_extra(r reservations, p_state text, p_cost bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  paid bigint := CASE p_state WHEN 'settled' THEN least(r.budget_micros, p_cost) ELSE 0 END
    - CASE r.state WHEN 'settled' THEN r.budget_micros ELSE 0 END;
  freed bigint := CASE WHEN r.state <> 'settled' AND p_state IN ('settled', 'released') THEN r.budget_micros ELSE 0 END;
  cost bigint := coalesce(p_cost, 0) - coalesce(r.cost_micros, 0);
  currency text;
BEGIN
  UPDATE wallets AS w SET held_micros = w.held_micros - freed, balance_micros = w.balance_micros - paid
    WHERE w.svc_user_id = r.svc_user_id AND (freed <> 0 OR paid <> 0) RETURNING w.currency INTO currency;
  UPDATE extra_usage AS e SET held_micros = e.held_micros - freed, used_micros = e.used_micros + paid
    WHERE e.svc_user_id = r.svc_user_id AND e.month_start = r.extra_month AND (freed <> 0 OR paid <> 0);
  IF cost <> 0 OR paid <> 0 THEN
    IF currency IS NULL THEN
      SELECT w.currency INTO currency FROM wallets AS w WHERE w.svc_user_id = r.svc_user_id;
    END IF;
    PERFORM post_key_use(CASE r.state WHEN 'settled' THEN 'adjustment' ELSE 'settlement' END::posting_kind, r.request_id, r.svc_user_id,
      currency, cost, paid, nextval('ledger_postings_id_seq'), paid);
  END IF;
  RETURN greatest(cost - paid, 0);
END $$;
