-- Charges what ended leases still hold, because the outcomes of their requests have been missing since the given instant: their
-- holder was lost, or this database was restored. An outcome that arrives later corrects it, so a charged lease is kept until
-- outcomes can no longer come. Deletes those, and leases that were charged nothing.
-- Leaves locked wallets to the next call. Returns the charged amount of each lease.
CREATE OR REPLACE FUNCTION settle_lost_leases(p_lost_before timestamptz, p_currency text, p_limit int)
RETURNS TABLE (lease_id uuid, estimated_micros bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  lost uuid[];
  owners text[];
  l leases%ROWTYPE;
  held bigint;
BEGIN
  SELECT array_agg(s.lease_id), array_agg(DISTINCT s.svc_user_id) INTO lost, owners
    FROM (SELECT v.lease_id, v.svc_user_id FROM leases AS v
      WHERE v.ended_at < p_lost_before AND (v.estimated_micros IS NULL OR v.ended_at < p_lost_before - interval '30 days')
      ORDER BY v.ended_at LIMIT p_limit) AS s;
  IF lost IS NULL THEN RETURN; END IF;
  owners := lock_free_wallets(owners);
  FOR l IN SELECT * FROM leases AS v WHERE v.lease_id = ANY (lost) AND v.svc_user_id = ANY (owners)
    ORDER BY v.svc_user_id, v.lease_id LOOP
    held := l.granted_micros - l.returned_micros - l.settled_micros;
    IF held = 0 THEN
      DELETE FROM leases AS v WHERE v.lease_id = l.lease_id;
      CONTINUE;
    END IF;
    UPDATE leases AS v SET estimated_micros = held, is_remembered = true WHERE v.lease_id = l.lease_id;
    PERFORM book_key_use(l.svc_user_id, l.key_id, l.lease_id, l.month_start, held, held, held, held);
    PERFORM write_member_usage(ARRAY[l.key_id], ARRAY[l.svc_user_id], ARRAY[0], ARRAY[held]);
    PERFORM post_key_use('settlement', concat('lease:', l.lease_id), l.svc_user_id, p_currency, held, held,
      nextval('ledger_postings_id_seq'));
    lease_id := l.lease_id;
    estimated_micros := held;
    RETURN NEXT;
  END LOOP;
END $$;
