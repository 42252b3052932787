-- Ends delegated requests as reported, each exactly once. Repeated and late outcomes change nothing (see settlement_step).
-- Outcomes of the same request take effect in the given order.
-- Additional effects to those of settlement_step: 'unknown', a cost for a request that was never admitted; 'ignored',
-- any other outcome of such a request. `p_given_up` are requests for which the caller has just left a tombstone
-- (give_up_request), each in its own transaction: an admission that waits for a tombstone may hold an account that this
-- function wants next.
-- Locks wallets, then accounts, in the order of their ids, each before its reservations, to prevent deadlocks.
CREATE OR REPLACE FUNCTION settle_requests(
  p_request_ids text[], p_outcomes text[], p_costs bigint[], p_given_up text[]
) RETURNS TABLE (place bigint, request_id text, state text, effect text, written_off_micros bigint)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET lock_timeout = '1s' AS $$
#variable_conflict use_column
DECLARE
  ids record;
  kinds record;
BEGIN
  -- The bounds leave the partitions of other months out of each plan before it starts.
  SELECT min(id) AS first, max(id) AS last INTO ids FROM unnest(p_request_ids) AS t (id);
  SELECT array_agg(t.place ORDER BY t.place) AS places, bool_or(r.kind = 'delegated') AS has_delegated,
      array_agg(t.place) FILTER (WHERE coalesce(r.kind, 'given_up') = 'given_up') AS others
    INTO kinds
    FROM unnest(p_request_ids) WITH ORDINALITY AS t (request_id, place)
    LEFT JOIN reservations AS r ON r.request_id = t.request_id AND r.request_id BETWEEN ids.first AND ids.last;
  IF kinds.has_delegated THEN
    RETURN QUERY SELECT d.place, d.request_id, d.state, d.effect, d.written_off_micros
      FROM settle_delegated_requests(kinds.places, p_request_ids, p_outcomes, p_costs, ids.first, ids.last) AS d;
  END IF;
  IF kinds.others IS NOT NULL THEN
    -- For the first outcome of a request that has just been given up, there was no request.
    RETURN QUERY SELECT t.place, t.request_id, r.state,
        CASE WHEN r.state IS NOT NULL THEN (settlement_step(r.state, NULL, NULL, 0, t.outcome, t.cost)).effect
          WHEN t.outcome = 'settled' THEN 'unknown' ELSE 'ignored' END, 0::bigint
      FROM (SELECT u.*, row_number() OVER (PARTITION BY u.request_id ORDER BY u.place) AS turn
          FROM unnest(p_request_ids, p_outcomes, p_costs) WITH ORDINALITY AS u (request_id, outcome, cost, place)) AS t
      LEFT JOIN reservations AS r ON r.request_id = t.request_id AND r.kind = 'given_up'
        AND NOT (t.turn = 1 AND t.request_id = ANY (p_given_up))
      WHERE t.place = ANY (kinds.others);
  END IF;
END $$;
