-- Leaves a tombstone for a request that was never admitted, so that a late admission finds the id taken. Returns false if
-- the id is known. Waits for an admission that has inserted the request but not committed it; the caller must therefore
-- hold no other lock, because that admission may be waiting for one.
CREATE OR REPLACE FUNCTION give_up_request(p_request_id text) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
  at timestamptz := billing_now();
BEGIN
  PERFORM lock_request(p_request_id);
  INSERT INTO reservations (request_id, kind, svc_user_id, state, estimate_micros, month_start, created_at, ended_at)
    SELECT p_request_id, 'given_up', '', 'released', 0, date_trunc('month', at, 'UTC'), at, at
      WHERE NOT EXISTS (SELECT FROM reservations AS r WHERE r.request_id = p_request_id);
  RETURN FOUND;
END $$;
