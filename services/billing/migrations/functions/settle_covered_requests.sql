-- Settles the API-key requests whose lease covers their cost in full: almost all. The sums of a lease, a key's month, a wallet
-- and its posting change once for all of them, since each change of a row leaves another version of it. Returns what it has
-- settled; everything else is left to settle_key_requests, which has locked the wallets.
CREATE OR REPLACE FUNCTION settle_covered_requests(p_outcomes jsonb, p_currency text)
RETURNS TABLE (place bigint, request_id text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  at timestamptz := billing_now();
  w record;
BEGIN
  PERFORM number_keys(p_outcomes);
  FOR w IN
    WITH outcomes AS MATERIALIZED (
      SELECT e.place, t.*, uuid_of_id('req', t.request_id) AS id, count(*) OVER (PARTITION BY t.request_id) AS times
        FROM jsonb_array_elements(p_outcomes) WITH ORDINALITY AS e (fact, place),
          jsonb_to_record(e.fact) AS t (request_id text, svc_user_id text, key_id text, outcome text, cost_micros bigint,
            lease_id uuid, hold_micros bigint, is_unadmitted boolean)
    ), covered AS MATERIALIZED (
      SELECT c.* FROM (
        SELECT o.*, l.month_start, k.key_number, l.granted_micros - l.returned_micros - l.settled_micros AS held_micros,
            sum(o.cost_micros) OVER (PARTITION BY o.lease_id) AS cost_of_lease
          FROM outcomes AS o
          JOIN leases AS l ON l.lease_id = o.lease_id AND l.svc_user_id = o.svc_user_id AND l.key_id = o.key_id
          JOIN request_keys AS k ON k.svc_user_id = o.svc_user_id AND k.key_id = o.key_id
          WHERE o.outcome = 'settled' AND o.times = 1 AND o.cost_micros <= o.hold_micros AND o.is_unadmitted IS NOT TRUE
            -- A lease that was charged for missing outcomes is corrected for each.
            AND coalesce(l.estimated_micros, 0) = 0
            AND NOT EXISTS (SELECT FROM ended_key_requests AS v WHERE v.id = o.id)
            AND NOT EXISTS (SELECT FROM uncertain_key_requests AS v WHERE v.request_id = o.request_id)) AS c
        WHERE c.cost_of_lease <= c.held_micros
    ), postings AS MATERIALIZED (
      SELECT c.svc_user_id, sum(c.cost_micros)::bigint AS paid,
          nextval('ledger_postings_id_seq') AS posting_id, array_agg(DISTINCT c.lease_id) AS lease_ids,
          array_agg(c.place) AS places, array_agg(c.request_id) AS request_ids, array_agg(c.key_id) AS key_ids,
          array_agg(c.cost_micros) AS costs, count(*)::int AS requests
        FROM covered AS c GROUP BY c.svc_user_id
    ), written AS (
      INSERT INTO ended_key_requests (id, cost_micros, posting_id, ended_at, key_number, month, ending)
        SELECT c.id, c.cost_micros, CASE WHEN c.cost_micros > 0 THEN p.posting_id END, at, c.key_number,
            month_number(c.month_start), 'u'
          FROM covered AS c JOIN postings AS p ON p.svc_user_id = c.svc_user_id
    ), of_leases AS (
      UPDATE leases AS l SET settled_micros = l.settled_micros + s.cost
        FROM (SELECT c.lease_id, sum(c.cost_micros)::bigint AS cost FROM covered AS c GROUP BY c.lease_id) AS s
        WHERE l.lease_id = s.lease_id AND s.cost > 0
    ), of_wallets AS (
      UPDATE wallets AS v SET held_micros = v.held_micros - p.paid, balance_micros = v.balance_micros - p.paid
        FROM postings AS p WHERE v.svc_user_id = p.svc_user_id AND p.paid > 0
    ), of_keys AS (
      UPDATE key_budgets AS k SET month_used_micros = k.month_used_micros + s.cost
        FROM (SELECT c.key_id, c.month_start, sum(c.cost_micros)::bigint AS cost FROM covered AS c GROUP BY c.key_id, c.month_start) AS s
        WHERE k.key_id = s.key_id AND k.month_start = s.month_start AND s.cost > 0
    )
    SELECT p.* FROM postings AS p ORDER BY p.svc_user_id
  LOOP
    IF w.paid > 0 THEN
      PERFORM post_key_use('settlement', NULL, w.svc_user_id, p_currency, w.paid, w.paid, w.posting_id);
    END IF;
    PERFORM write_member_usage(w.key_ids, array_fill(w.svc_user_id, ARRAY[w.requests]), array_fill(1, ARRAY[w.requests]), w.costs);
    DELETE FROM leases AS l WHERE l.lease_id = ANY (w.lease_ids) AND l.ended_at IS NOT NULL AND NOT l.is_remembered
      AND l.granted_micros = l.returned_micros + l.settled_micros;
    RETURN QUERY SELECT t.* FROM unnest(w.places, w.request_ids) AS t;
  END LOOP;
END $$;
