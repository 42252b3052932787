-- Gives back a part of what a lost lease was charged for missing outcomes, because one of them has arrived. The caller holds the
-- lock of the wallet.
CREATE OR REPLACE FUNCTION correct_lost_lease(l leases, p_request_id text, p_amount bigint, p_currency text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p_amount = 0 THEN RETURN; END IF;
  UPDATE leases AS v SET estimated_micros = v.estimated_micros - p_amount WHERE v.lease_id = l.lease_id;
  PERFORM book_key_use(l.svc_user_id, l.key_id, NULL, l.month_start, 0, 0, -p_amount, -p_amount);
  PERFORM write_member_usage(ARRAY[l.key_id], ARRAY[l.svc_user_id], ARRAY[0], ARRAY[-p_amount]);
  PERFORM post_key_use('adjustment', concat('lease:', l.lease_id, ':', p_request_id), l.svc_user_id, p_currency, -p_amount,
    -p_amount, nextval('ledger_postings_id_seq'));
END $$;
