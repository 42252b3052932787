-- Reduces the holds of reserved API-key requests to their estimates. The released amounts are available at once. Larger
-- or missing estimates, and requests in another state, change nothing. Locks requests, then wallets, each by id.
CREATE OR REPLACE FUNCTION shrink_holds(p_request_ids text[], p_estimates bigint[]) RETURNS void
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
  owners text[];
  freed bigint[];
BEGIN
  PERFORM FROM reservations AS r WHERE r.request_id = ANY (p_request_ids) AND r.kind = 'api_key'
    ORDER BY r.request_id FOR NO KEY UPDATE;
  WITH held AS MATERIALIZED (
    SELECT r.request_id, r.svc_user_id, t.estimate, r.estimate_micros - t.estimate AS freed
    FROM (SELECT n.request_id, min(n.estimate) AS estimate FROM unnest(p_request_ids, p_estimates) AS n (request_id, estimate)
          GROUP BY n.request_id) AS t
      JOIN reservations AS r ON r.request_id = t.request_id
    WHERE r.kind = 'api_key' AND r.state = 'reserved' AND t.estimate < r.estimate_micros
  ), shrunk AS (
    UPDATE reservations AS r SET estimate_micros = h.estimate FROM held AS h WHERE r.request_id = h.request_id
  )
  SELECT array_agg(o.svc_user_id ORDER BY o.svc_user_id), array_agg(o.freed ORDER BY o.svc_user_id) INTO owners, freed
    FROM (SELECT h.svc_user_id, sum(h.freed)::bigint AS freed FROM held AS h GROUP BY h.svc_user_id) AS o;
  IF owners IS NULL THEN RETURN; END IF;
  PERFORM FROM wallets AS w WHERE w.svc_user_id = ANY (owners) ORDER BY w.svc_user_id FOR NO KEY UPDATE;
  UPDATE wallets AS w SET held_micros = w.held_micros - o.freed
    FROM unnest(owners, freed) AS o (svc_user_id, freed) WHERE w.svc_user_id = o.svc_user_id;
END $$;
