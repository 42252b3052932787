-- Takes a payment that was reversed at the provider from the wallet; a negative amount gives it back. The balance may
-- fall below zero: what was spent of a payment that is gone is owed.
CREATE OR REPLACE FUNCTION wallet_reverse(p_svc_user_id text, p_amount_micros bigint, p_reference text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE w wallets%ROWTYPE;
BEGIN
  SELECT * INTO STRICT w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  PERFORM ledger_post(CASE WHEN p_amount_micros > 0 THEN 'refund' ELSE 'adjustment' END::posting_kind, p_reference, p_svc_user_id,
    w.currency, -p_amount_micros, p_payments_received => p_amount_micros);
  UPDATE wallets SET balance_micros = balance_micros - p_amount_micros WHERE svc_user_id = p_svc_user_id;
END $$;
