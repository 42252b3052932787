-- Takes a refund from the available balance. Returns false if that is less.
CREATE OR REPLACE FUNCTION wallet_refund(p_svc_user_id text, p_amount_micros bigint, p_reference text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE w wallets%ROWTYPE;
BEGIN
  SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  IF NOT FOUND OR w.balance_micros - w.held_micros < p_amount_micros THEN RETURN false; END IF;
  PERFORM ledger_post('refund', p_reference, p_svc_user_id, w.currency, -p_amount_micros,
    p_payments_received => p_amount_micros);
  UPDATE wallets SET balance_micros = balance_micros - p_amount_micros WHERE svc_user_id = p_svc_user_id;
  RETURN true;
END $$;
