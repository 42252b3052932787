-- Writes one posting, unless all amounts are zero. Leaves out entries of zero.
CREATE OR REPLACE FUNCTION ledger_post(
  p_kind text, p_reference text, p_svc_user_id text, p_currency text, p_books text[], p_amounts bigint[],
  p_id bigint DEFAULT nextval('ledger_postings_id_seq'))
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF 0 = ALL (p_amounts) THEN RETURN; END IF;
  -- A posting and its entries are one statement.
  WITH posting AS (
    INSERT INTO ledger_postings (id, kind, reference, svc_user_id, currency, posted_at) OVERRIDING SYSTEM VALUE
      VALUES (p_id, p_kind, p_reference, p_svc_user_id, p_currency, billing_now()))
  INSERT INTO ledger_entries (posting_id, book, amount_micros)
    SELECT p_id, entry.book, entry.amount
    FROM unnest(p_books, p_amounts) AS entry (book, amount) WHERE entry.amount <> 0;
END $$;
