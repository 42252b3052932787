-- Ends reservations as reported, each exactly once; see settle_request. Outcomes of one request take effect in the order
-- given.
-- Rows are locked in one order, so that callers never wait for each other in a circle: reservations of API keys by id,
-- then wallets by account, each before its keys, then accounts, each before its reservations. A wallet pays for new
-- requests while a settlement waits for a reservation.
CREATE OR REPLACE FUNCTION settle_requests(
  p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text, p_tokens bigint[]
) RETURNS TABLE (
  place bigint, request_id text, state text, effect text, over_hold_micros bigint, written_off_micros bigint
)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET lock_timeout = '1s' AS $$
DECLARE q record;
BEGIN
  PERFORM FROM reservations AS r
    WHERE r.request_id = ANY (p_request_ids) AND r.kind = 'api_key'
      AND (r.state IN ('reserved', 'uncertain') OR r.settled_by = 'estimate')
    ORDER BY r.request_id FOR NO KEY UPDATE;
  FOR q IN
    SELECT t.* FROM unnest(p_request_ids, p_outcomes, p_costs, p_tokens)
      WITH ORDINALITY AS t (request_id, outcome, cost, tokens, place)
    LEFT JOIN reservations AS r ON r.request_id = t.request_id
    -- Unknown requests come first: they may wait for an admission, and nothing is locked yet.
    ORDER BY r.kind NULLS FIRST, r.svc_user_id, t.place
  LOOP
    place := q.place;
    request_id := q.request_id;
    SELECT s.state, s.effect, s.over_hold_micros, s.written_off_micros
      INTO state, effect, over_hold_micros, written_off_micros
      FROM settle_request(q.request_id, q.outcome, q.cost, p_currency, q.tokens) AS s;
    RETURN NEXT;
  END LOOP;
END $$;
