-- Ends reservations as reported, each exactly once. Repeated and late outcomes change nothing (see settlement_step).
-- Outcomes of the same request take effect in the given order.
-- Additional effects to those of settlement_step: 'unknown', a cost for a request that was never admitted; 'ignored',
-- any other outcome of such a request. Releasing a request that was never admitted leaves a tombstone, so that a late
-- admission finds the id taken.
-- Locks rows in one order to prevent deadlocks: API-key reservations by id, then wallets, then accounts, each before
-- its reservations. A wallet therefore pays for new requests while a settlement waits for a reservation. Tombstones
-- come before all locks, because they may wait for an admission.
CREATE OR REPLACE FUNCTION settle_requests(
  p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text, p_tokens bigint[]
) RETURNS TABLE (
  place bigint, request_id text, state text, effect text, over_hold_micros bigint, written_off_micros bigint
)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET lock_timeout = '1s' AS $$
#variable_conflict use_column
DECLARE
  given_up text[];
  kinds record;
BEGIN
  IF 'released' = ANY (p_outcomes) THEN
    WITH tombstones AS (
      INSERT INTO reservations (request_id, kind, svc_user_id, state, estimate_micros, month_start, created_at, ended_at)
        SELECT t.request_id, 'given_up', '', 'released', 0, date_trunc('month', billing_now(), 'UTC'), billing_now(),
            billing_now()
          FROM unnest(p_request_ids, p_outcomes) AS t (request_id, outcome)
          WHERE t.outcome = 'released' AND NOT EXISTS (SELECT FROM reservations AS r WHERE r.request_id = t.request_id)
          ORDER BY t.request_id
        ON CONFLICT DO NOTHING RETURNING request_id)
    SELECT array_agg(request_id) INTO given_up FROM tombstones;
  END IF;

  SELECT array_agg(t.place ORDER BY t.place) AS places, bool_or(r.kind = 'api_key') AS has_keyed, bool_or(r.kind = 'delegated') AS has_delegated,
      array_agg(t.place) FILTER (WHERE coalesce(r.kind, 'given_up') = 'given_up') AS others
    INTO kinds
    FROM unnest(p_request_ids) WITH ORDINALITY AS t (request_id, place)
    LEFT JOIN reservations AS r ON r.request_id = t.request_id;
  IF kinds.has_keyed THEN
    RETURN QUERY SELECT k.place, k.request_id, k.state, k.effect, k.over_hold_micros, k.written_off_micros
      FROM settle_key_requests(kinds.places, p_request_ids, p_outcomes, p_costs, p_tokens, p_currency) AS k;
  END IF;
  IF kinds.has_delegated THEN
    RETURN QUERY SELECT d.place, d.request_id, d.state, d.effect, 0::bigint, 0::bigint
      FROM settle_delegated_requests(kinds.places, p_request_ids, p_outcomes, p_costs, p_currency) AS d;
  END IF;
  IF kinds.others IS NOT NULL THEN
    -- For the first outcome of a request that this call has given up, there was no request.
    RETURN QUERY SELECT t.place, t.request_id, r.state,
        CASE WHEN r.state IS NOT NULL THEN (settlement_step(r.state, NULL, NULL, 0, t.outcome, t.cost)).effect
          WHEN t.outcome = 'settled' THEN 'unknown' ELSE 'ignored' END, 0::bigint, 0::bigint
      FROM (SELECT u.*, row_number() OVER (PARTITION BY u.request_id ORDER BY u.place) AS turn
          FROM unnest(p_request_ids, p_outcomes, p_costs) WITH ORDINALITY AS u (request_id, outcome, cost, place)) AS t
      LEFT JOIN reservations AS r ON r.request_id = t.request_id AND r.kind = 'given_up'
        AND NOT (t.turn = 1 AND t.request_id = ANY (coalesce(given_up, '{}')))
      WHERE t.place = ANY (kinds.others);
  END IF;
END $$;
