-- Writes a lease with its key and the holds of its wallet. A lease that has ended and holds nothing is deleted, and one that was
-- never granted anything is not stored, unless it must be remembered. The caller holds the lock of the wallet.
CREATE OR REPLACE FUNCTION write_lease(l leases, k key_budgets, p_held bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE wallets AS w SET held_micros = p_held WHERE w.svc_user_id = l.svc_user_id AND w.held_micros <> p_held;
  IF l.ended_at IS NOT NULL AND l.granted_micros = l.returned_micros + l.settled_micros AND NOT l.is_remembered THEN
    DELETE FROM leases AS v WHERE v.lease_id = l.lease_id;
  ELSIF l.granted_micros + l.granted_requests + l.granted_tokens > 0 OR l.is_remembered THEN
    INSERT INTO leases SELECT l.*
      ON CONFLICT (lease_id) DO UPDATE SET granted_micros = excluded.granted_micros,
        returned_micros = excluded.returned_micros, known_micros = excluded.known_micros,
        minute_start = excluded.minute_start, granted_requests = excluded.granted_requests,
        returned_requests = excluded.returned_requests, granted_tokens = excluded.granted_tokens,
        returned_tokens = excluded.returned_tokens, reported_at = excluded.reported_at, ended_at = excluded.ended_at,
        is_remembered = excluded.is_remembered;
  END IF;
  INSERT INTO key_budgets AS b SELECT k.*
    ON CONFLICT (key_id) DO UPDATE SET minute_start = excluded.minute_start, minute_count = excluded.minute_count,
      minute_tokens = excluded.minute_tokens, month_start = excluded.month_start,
      month_used_micros = excluded.month_used_micros, month_limit_micros = excluded.month_limit_micros,
      member_id = excluded.member_id
    WHERE (b.minute_start, b.minute_count, b.minute_tokens, b.month_start, b.month_limit_micros, b.member_id) IS DISTINCT FROM
      (excluded.minute_start, excluded.minute_count, excluded.minute_tokens, excluded.month_start,
        excluded.month_limit_micros, excluded.member_id)
      -- A minute begins with its first request.
      AND (excluded.minute_start = b.minute_start OR excluded.minute_count + excluded.minute_tokens > 0
        OR excluded.month_start <> b.month_start
        OR (excluded.month_limit_micros, excluded.member_id) IS DISTINCT FROM (b.month_limit_micros, b.member_id));
END $$;
