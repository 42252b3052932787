-- Ends API-key reservations as reported; see settle_requests. Writes the ledger, wallets and the days of their use, and
-- the months and minutes of keys once for the batch.
-- A wallet pays at most the hold plus its available balance, and a key at most the rest of its monthly limit. The rest
-- is written off. A lower true cost reduces the write-off first. The end of a request also corrects the tokens that it
-- reserved in the key's minute, if that minute is still current. Tokens are NULL if the usage is unknown.
CREATE OR REPLACE FUNCTION settle_key_requests(
  p_places bigint[], p_request_ids text[], p_outcomes text[], p_costs bigint[], p_tokens bigint[], p_currency text
) RETURNS TABLE (
  place bigint, request_id text, state text, effect text, over_hold_micros bigint, written_off_micros bigint
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  at timestamptz := billing_now();
  q record;
  r reservations%ROWTYPE;
  step record;
  is_changed boolean := false;
  is_end boolean;
  freed bigint;
  cost bigint;
  cost_before bigint;
  paid bigint;
  paid_before bigint;
  covered bigint;
  -- What this call has changed, and not written yet.
  changed reservations[] := '{}';
  change key_use_change;
  changes key_use_change[] := '{}';
BEGIN
  PERFORM FROM reservations AS v
    WHERE v.request_id = ANY (p_request_ids) AND v.kind = 'api_key'
      AND (v.state IN ('reserved', 'uncertain') OR v.settled_by = 'estimate')
    ORDER BY v.request_id FOR NO KEY UPDATE;
  -- What a request may cost beyond its hold depends on its wallet. All others leave the wallet free until the end, so that
  -- it pays for new requests meanwhile.
  IF EXISTS (SELECT FROM unnest(p_request_ids, p_costs) AS t (request_id, cost)
      JOIN reservations AS v ON v.request_id = t.request_id
      WHERE v.kind = 'api_key' AND (t.cost > v.estimate_micros OR v.settled_by = 'estimate')) THEN
    PERFORM lock_wallets(ARRAY(SELECT v.svc_user_id FROM reservations AS v
      WHERE v.request_id = ANY (p_request_ids) AND v.kind = 'api_key'));
  END IF;
  FOR q IN
    SELECT t.place, t.request_id, t.outcome, t.cost, t.tokens, v AS reservation
      FROM unnest(p_places, p_request_ids, p_outcomes, p_costs, p_tokens) AS t (place, request_id, outcome, cost, tokens)
      JOIN reservations AS v ON v.request_id = t.request_id
      WHERE v.kind = 'api_key' ORDER BY v.svc_user_id, v.key_id, t.request_id, t.place
  LOOP
    IF r.request_id IS DISTINCT FROM q.request_id THEN
      IF is_changed THEN changed := changed || r; END IF;
      is_changed := false;
      r := q.reservation;
    END IF;
    step := settlement_step(r.state, r.settled_by, r.cost_micros, r.estimate_micros, q.outcome, q.cost);
    place := q.place;
    request_id := r.request_id;
    state := step.state;
    effect := step.effect;
    over_hold_micros := 0;
    written_off_micros := 0;
    IF step.effect NOT IN ('none', 'conflict') THEN
      is_end := step.state IN ('settled', 'released') AND r.state IN ('reserved', 'uncertain');
      freed := CASE WHEN is_end THEN r.estimate_micros ELSE 0 END;
      cost := coalesce(step.cost, 0);
      cost_before := coalesce(r.cost_micros, 0);
      paid_before := cost_before - r.written_off_micros;
      -- Already counted in the wallet's holds or payments, and in the key's month.
      covered := freed + paid_before;
      paid := CASE WHEN cost > covered THEN least(cost, covered + extra_key_micros(r, changes)) ELSE cost END;
      change := (r.svc_user_id, r.key_id, r.month_start, r.minute_start,
        CASE r.state WHEN 'reserved' THEN r.estimate_micros ELSE 0 END, freed, paid - paid_before,
        -- Uncertain requests count at their estimate, as settled ones do at what was paid.
        CASE step.state WHEN 'uncertain' THEN r.estimate_micros ELSE paid END
          - CASE r.state WHEN 'uncertain' THEN r.estimate_micros ELSE paid_before END,
        CASE WHEN is_end THEN CASE step.state WHEN 'released' THEN 0 ELSE q.tokens END - r.tokens END,
        CASE r.state WHEN 'settled' THEN 'adjustment' ELSE 'settlement' END, r.request_id,
        cost - cost_before, r.written_off_micros - (cost - paid));
      changes := changes || change;
      over_hold_micros := greatest(cost - r.estimate_micros, 0);
      written_off_micros := greatest(cost - paid - r.written_off_micros, 0);
      r.written_off_micros := cost - paid;
      r.state := step.state;
      r.settled_by := step.settled_by;
      r.cost_micros := step.cost;
      r.uncertain_at := CASE step.effect WHEN 'uncertain' THEN at ELSE r.uncertain_at END;
      r.ended_at := CASE WHEN step.effect IN ('settled', 'released') THEN at ELSE r.ended_at END;
      r.adjusted_at := CASE step.effect WHEN 'adjusted' THEN at ELSE r.adjusted_at END;
      is_changed := true;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF is_changed THEN changed := changed || r; END IF;
  IF cardinality(changes) > 0 THEN
    PERFORM write_reservations(changed);
    PERFORM write_key_use(changes, p_currency);
    PERFORM write_wallet_usage_days(changes);
  END IF;
END $$;
