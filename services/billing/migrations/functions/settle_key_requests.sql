-- Ends API-key requests as reported, each once; see settlement_step. Those that their lease covers are settled together first. `p_outcomes` are in the form of usage facts. The record of a
-- request is written here, once. A lease pays at most the hold of the request, its wallet adds what is available within the
-- key's monthly limit, and the rest is written off. An uncertain request takes its estimate out of the lease. Outcomes of the
-- same request take effect in the given order. One posting covers all settlements of a wallet in a call.
-- Additional effects to those of settlement_step: 'unknown', a cost without a lease, which a wallet pays only if an operator
-- decides so (`is_unadmitted`); 'ignored', an unknown outcome without a lease.
CREATE OR REPLACE FUNCTION settle_key_requests(p_outcomes jsonb, p_currency text) RETURNS TABLE (
  place bigint, request_id text, state text, effect text, over_hold_micros bigint, written_off_micros bigint
)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '1s' AS $$
#variable_conflict use_column
DECLARE
  at timestamptz := billing_now();
  q record;
  f key_requests%ROWTYPE;
  u uncertain_key_requests%ROWTYPE;
  l leases%ROWTYPE;
  step record;
  month timestamptz;
  cost bigint;
  before bigint;
  paid bigint;
  covered bigint;
  of_lease bigint;
  -- The posting of the current wallet, and what it covers so far.
  posting_wallet text;
  posting_id bigint;
  posting_income bigint := 0;
  posting_paid bigint := 0;
  covered_places bigint[];
  covered_ids text[];
  -- Use of members, not written yet.
  used_keys text[] := '{}';
  used_owners text[] := '{}';
  used_requests int[] := '{}';
  used_paid bigint[] := '{}';
BEGIN
  PERFORM lock_wallets(ARRAY(SELECT DISTINCT o ->> 'svc_user_id' FROM jsonb_array_elements(p_outcomes) AS o));
  SELECT coalesce(array_agg(c.place), '{}'), coalesce(array_agg(c.request_id), '{}') INTO covered_places, covered_ids
    FROM settle_covered_requests(p_outcomes, p_currency) AS c;
  RETURN QUERY SELECT t.place, t.request_id, 'settled', 'settled', 0::bigint, 0::bigint
    FROM unnest(covered_places, covered_ids) AS t (place, request_id);
  IF cardinality(covered_places) = jsonb_array_length(p_outcomes) THEN RETURN; END IF;
  FOR q IN
    SELECT e.place, e.fact, t.*
      FROM jsonb_array_elements(p_outcomes) WITH ORDINALITY AS e (fact, place),
        jsonb_to_record(e.fact) AS t (request_id text, svc_user_id text, key_id text, outcome text, cost_micros bigint,
          lease_id uuid, hold_micros bigint, is_unadmitted boolean)
      WHERE e.place <> ALL (covered_places)
      ORDER BY t.svc_user_id, t.request_id, e.place
  LOOP
    IF posting_wallet IS DISTINCT FROM q.svc_user_id THEN
      IF posting_id IS NOT NULL THEN
        PERFORM post_key_use('settlement', NULL, posting_wallet, p_currency, posting_income, posting_paid, posting_id);
      END IF;
      posting_wallet := q.svc_user_id;
      posting_id := NULL;
      posting_income := 0;
      posting_paid := 0;
    END IF;
    place := q.place;
    request_id := q.request_id;
    over_hold_micros := 0;
    written_off_micros := 0;
    SELECT * INTO f FROM key_requests AS v WHERE v.id = uuid_of_id('req', q.request_id);
    SELECT * INTO u FROM uncertain_key_requests AS v WHERE v.request_id = q.request_id;
    step := settlement_step(CASE WHEN f.state IS NOT NULL THEN f.state WHEN u.request_id IS NOT NULL THEN 'uncertain'
      ELSE 'reserved' END, f.settled_by, f.cost_micros, u.held_micros, q.outcome, q.cost_micros);
    state := step.state;
    effect := step.effect;
    IF f.svc_user_id <> q.svc_user_id OR u.svc_user_id <> q.svc_user_id THEN
      state := NULL;
      effect := 'conflict';
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF effect IN ('none', 'conflict') THEN
      -- 'reserved' is no record of a request.
      state := nullif(state, 'reserved');
      RETURN NEXT;
      CONTINUE;
    END IF;
    cost := CASE effect WHEN 'uncertain' THEN q.cost_micros ELSE coalesce(step.cost, 0) END;
    l := NULL;
    IF q.lease_id IS NOT NULL THEN
      SELECT * INTO l FROM leases AS v
        WHERE v.lease_id = q.lease_id AND v.svc_user_id = q.svc_user_id AND v.key_id = q.key_id;
    END IF;
    IF f.state IS NULL AND u.request_id IS NULL AND l.lease_id IS NULL AND (cost > 0 OR effect = 'uncertain')
      AND q.is_unadmitted IS NOT TRUE THEN
      state := NULL;
      effect := CASE effect WHEN 'settled' THEN 'unknown' ELSE 'ignored' END;
      RETURN NEXT;
      CONTINUE;
    END IF;

    month := coalesce(f.month_start, u.month_start, l.month_start);
    -- The lease was charged for this request too, whose part it now pays or holds itself.
    IF l.estimated_micros > 0 AND f.state IS NULL AND u.request_id IS NULL THEN
      PERFORM correct_lost_lease(l, q.request_id, least(l.estimated_micros, cost), p_currency);
    END IF;
    before := coalesce(f.cost_micros, 0) - coalesce(f.written_off_micros, 0);
    -- least() overlooks a lease that is not known, as after a restore.
    of_lease := CASE WHEN f.state IS NULL AND u.request_id IS NULL AND l.lease_id IS NOT NULL
      THEN least(q.hold_micros, l.granted_micros - l.returned_micros - l.settled_micros) ELSE 0 END;
    of_lease := coalesce(of_lease, 0);
    -- Already held for this request, or paid by it.
    covered := of_lease + coalesce(u.held_micros, 0) + before;
    paid := cost;
    IF cost > covered THEN
      paid := least(cost, covered + extra_key_micros(q.svc_user_id, coalesce(f.key_id, u.key_id, q.key_id), month));
    END IF;
    of_lease := least(of_lease, paid);
    over_hold_micros := greatest(cost - coalesce(u.held_micros, q.hold_micros, cost), 0);
    IF effect = 'uncertain' THEN
      -- Moves from the lease to the request; only what the lease lacks is held anew.
      PERFORM book_key_use(q.svc_user_id, q.key_id, l.lease_id, month, of_lease, of_lease - paid, 0, paid);
      INSERT INTO uncertain_key_requests
        VALUES (q.request_id, q.svc_user_id, q.key_id, q.lease_id, paid, month, at, q.fact);
    ELSIF f.state IS NULL THEN
      written_off_micros := cost - paid;
      PERFORM book_key_use(q.svc_user_id, coalesce(u.key_id, q.key_id), l.lease_id, month,
        CASE WHEN u.request_id IS NULL THEN of_lease ELSE 0 END, CASE WHEN u.request_id IS NULL THEN of_lease ELSE u.held_micros END,
        paid, paid - coalesce(u.held_micros, 0));
      IF cost > 0 AND posting_id IS NULL THEN
        posting_id := nextval('ledger_postings_id_seq');
      END IF;
      IF step.state = 'settled' THEN
        used_keys := used_keys || coalesce(u.key_id, q.key_id);
        used_owners := used_owners || q.svc_user_id;
        used_requests := used_requests || 1;
        used_paid := used_paid || paid;
      END IF;
      posting_income := posting_income + cost;
      posting_paid := posting_paid + paid;
      DELETE FROM uncertain_key_requests AS v WHERE v.request_id = u.request_id;
      INSERT INTO ended_key_requests (id, cost_micros, written_off_micros, posting_id, ended_at, key_number, month, ending)
        SELECT uuid_of_id('req', q.request_id), cost, nullif(cost - paid, 0), CASE WHEN cost > 0 THEN posting_id END, at, k.key_number,
          CASE WHEN coalesce(u.lease_id, l.lease_id) IS NOT NULL THEN month_number(month) END,
          CASE WHEN step.state = 'released' THEN 'r' ELSE left(step.settled_by, 1) END
        FROM request_keys AS k WHERE k.svc_user_id = q.svc_user_id AND k.key_id = coalesce(u.key_id, q.key_id);
      IF NOT FOUND THEN
        RAISE EXCEPTION 'the request % names no API key', q.request_id USING ERRCODE = 'not_null_violation';
      END IF;
    ELSE
      written_off_micros := greatest(cost - paid - f.written_off_micros, 0);
      PERFORM book_key_use(f.svc_user_id, f.key_id, NULL, f.month_start, 0, 0, paid - before, paid - before);
      used_keys := used_keys || f.key_id;
      used_owners := used_owners || f.svc_user_id;
      used_requests := used_requests || 0;
      used_paid := used_paid || (paid - before);
      PERFORM post_key_use('adjustment', f.request_id, f.svc_user_id, p_currency, cost - f.cost_micros, paid - before,
        nextval('ledger_postings_id_seq'));
      UPDATE ended_key_requests AS v SET ending = left(step.settled_by, 1), cost_micros = cost, written_off_micros = nullif(cost - paid, 0),
          ended_at = at
        WHERE v.id = f.id;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF posting_id IS NOT NULL THEN
    PERFORM post_key_use('settlement', NULL, posting_wallet, p_currency, posting_income, posting_paid, posting_id);
  END IF;
  IF used_keys <> '{}' THEN PERFORM write_member_usage(used_keys, used_owners, used_requests, used_paid); END IF;
END $$;
