-- Ends leases that their holders have not reported since the given instant, the longest silent first. Each keeps what its requests have cost
-- as far as its holder has reported, until their outcomes arrive; the rest goes back. Leaves locked wallets to the next call. Returns the
-- number of ended leases.
CREATE OR REPLACE FUNCTION end_silent_leases(p_silent_since timestamptz, p_limit int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := billing_now();
  silent uuid[];
  owners text[];
  ended int;
BEGIN
  SELECT array_agg(s.lease_id), array_agg(DISTINCT s.svc_user_id) INTO silent, owners
    FROM (SELECT l.lease_id, l.svc_user_id FROM leases AS l WHERE l.ended_at IS NULL AND l.reported_at < p_silent_since
      ORDER BY l.reported_at LIMIT p_limit) AS s;
  IF silent IS NULL THEN RETURN 0; END IF;
  owners := lock_free_wallets(owners);
  WITH lost AS (
    UPDATE leases AS l SET ended_at = at, is_remembered = true,
        returned_micros = l.granted_micros - greatest(least(l.known_micros, l.granted_micros - l.returned_micros), l.settled_micros)
      FROM (SELECT v.lease_id, v.returned_micros FROM leases AS v WHERE v.lease_id = ANY (silent)) AS old
      WHERE l.lease_id = old.lease_id AND l.ended_at IS NULL AND l.reported_at < p_silent_since
        AND l.svc_user_id = ANY (owners)
      RETURNING l.svc_user_id, l.returned_micros - old.returned_micros AS freed
  ), freed AS (
    UPDATE wallets AS w SET held_micros = w.held_micros - f.freed
      FROM (SELECT svc_user_id, sum(freed) AS freed FROM lost GROUP BY svc_user_id) AS f WHERE w.svc_user_id = f.svc_user_id
  )
  SELECT count(*) INTO ended FROM lost;
  RETURN ended;
END $$;
