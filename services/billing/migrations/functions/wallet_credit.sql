-- Credits a payment once per reference. Returns the new revision of the wallet, or NULL if it was credited before.
CREATE OR REPLACE FUNCTION wallet_credit(p_svc_user_id text, p_amount_micros bigint, p_currency text, p_reference text)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE w wallets%ROWTYPE;
BEGIN
  INSERT INTO wallets (svc_user_id, currency, created_at) VALUES (p_svc_user_id, p_currency, billing_now())
    ON CONFLICT (svc_user_id) DO NOTHING;
  SELECT * INTO STRICT w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
  IF w.currency <> p_currency THEN
    RAISE EXCEPTION 'a wallet in % cannot take %', w.currency, p_currency USING ERRCODE = 'check_violation';
  END IF;
  IF EXISTS (SELECT FROM ledger_postings WHERE reference = p_reference AND kind = 'top_up') THEN RETURN NULL; END IF;
  PERFORM ledger_post('top_up', p_reference, p_svc_user_id, p_currency, p_amount_micros,
    p_payments_received => -p_amount_micros);
  UPDATE wallets SET balance_micros = balance_micros + p_amount_micros, revision = revision + 1
    WHERE svc_user_id = p_svc_user_id;
  RETURN w.revision + 1;
END $$;
