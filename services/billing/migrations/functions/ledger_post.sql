-- Writes one posting, unless all amounts are zero. Leaves out books with an amount of zero.
CREATE OR REPLACE FUNCTION ledger_post(
  p_kind posting_kind, p_reference text, p_svc_user_id text, p_currency text, p_wallet_available bigint,
  p_payments_received bigint DEFAULT 0, p_income bigint DEFAULT 0, p_write_offs bigint DEFAULT 0,
  p_id bigint DEFAULT nextval('ledger_postings_id_seq'))
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF 0 = ALL (ARRAY[p_wallet_available, p_payments_received, p_income, p_write_offs]) THEN RETURN; END IF;
  INSERT INTO ledger_postings (id, kind, reference, svc_user_id, currency, posted_at, wallet_available_micros,
      payments_received_micros, income_micros, write_offs_micros) OVERRIDING SYSTEM VALUE
    VALUES (p_id, p_kind, p_reference, p_svc_user_id, p_currency, billing_now(), nullif(p_wallet_available, 0),
      nullif(p_payments_received, 0), nullif(p_income, 0), nullif(p_write_offs, 0));
END $$;
