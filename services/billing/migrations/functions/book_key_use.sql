-- Writes changes by outcomes of one lease: `p_settled` leaves the lease, `p_freed` the wallet's holds and `p_paid` its balance,
-- and `p_counted` enters the key's month, unless that is over. Deletes a lease that has ended and holds nothing, unless late
-- outcomes may still need it. The caller holds the lock of the wallet.
CREATE OR REPLACE FUNCTION book_key_use(
  p_svc_user_id text, p_key_id text, p_lease_id uuid, p_month_start timestamptz, p_settled bigint, p_freed bigint,
  p_paid bigint, p_counted bigint
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF p_settled <> 0 THEN
    UPDATE leases AS l SET settled_micros = l.settled_micros + p_settled WHERE l.lease_id = p_lease_id;
    DELETE FROM leases AS l WHERE l.lease_id = p_lease_id AND l.ended_at IS NOT NULL AND NOT l.is_remembered
      AND l.granted_micros = l.returned_micros + l.settled_micros;
  END IF;
  IF p_freed <> 0 OR p_paid <> 0 THEN
    UPDATE wallets AS w SET held_micros = w.held_micros - p_freed, balance_micros = w.balance_micros - p_paid
      WHERE w.svc_user_id = p_svc_user_id;
  END IF;
  IF p_counted <> 0 THEN
    UPDATE key_budgets AS k SET month_used_micros = k.month_used_micros + p_counted
      WHERE k.key_id = p_key_id AND k.month_start = p_month_start;
  END IF;
END $$;
