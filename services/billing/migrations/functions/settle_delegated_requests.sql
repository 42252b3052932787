-- Ends delegated reservations as reported; see settle_requests. Writes the accounts' places and windows, the apps'
-- budgets, the days of use of accounts and seats, and what extra use costs the wallets. `written_off_micros` is what these do not cover.
-- All ids lie between the given ones.
CREATE OR REPLACE FUNCTION settle_delegated_requests(
  p_places bigint[], p_request_ids text[], p_outcomes text[], p_costs bigint[], p_first_id text, p_last_id text
) RETURNS TABLE (place bigint, request_id text, state text, effect text, written_off_micros bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  at timestamptz := billing_now();
  q record;
  r reservations%ROWTYPE;
  step record;
  is_changed boolean := false;
  -- What this call has changed, and not written yet.
  changed reservations[] := '{}';
  change plan_use_change;
  changes plan_use_change[] := '{}';
BEGIN
  PERFORM lock_paying_wallets('{}', p_request_ids);
  PERFORM FROM accounts AS a
    WHERE a.svc_user_id IN (SELECT v.svc_user_id FROM reservations AS v
      WHERE v.request_id = ANY (p_request_ids) AND v.request_id BETWEEN p_first_id AND p_last_id AND v.kind = 'delegated'
        AND (v.state IN ('reserved', 'uncertain') OR v.settled_by = 'estimate'))
    ORDER BY a.svc_user_id FOR NO KEY UPDATE;
  FOR q IN
    SELECT t.place, t.request_id, t.outcome, t.cost, v AS reservation, a.has_app_budgets
      FROM unnest(p_places, p_request_ids, p_outcomes, p_costs) AS t (place, request_id, outcome, cost)
      JOIN reservations AS v ON v.request_id = t.request_id AND v.request_id BETWEEN p_first_id AND p_last_id
      JOIN accounts AS a ON a.svc_user_id = v.svc_user_id
      WHERE v.kind = 'delegated' ORDER BY v.svc_user_id, t.request_id, t.place
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
    written_off_micros := 0;
    IF step.effect NOT IN ('none', 'conflict') THEN
      IF q.has_app_budgets THEN PERFORM book_app_budget(r, step.state, step.cost); END IF;
      IF r.extra_month IS NOT NULL THEN written_off_micros := settle_extra(r, step.state, step.cost); END IF;
      change := (r.request_id, r.svc_user_id, r.client_id, r.service, r.created_at, r.week_start, r.month_start,
        r.extra_month IS NOT NULL, (r.state = 'reserved')::int,
        -- Against the caps counts the cost, or the estimate while the outcome is uncertain. Extra use is beyond them.
        CASE WHEN r.extra_month IS NOT NULL THEN 0
          ELSE CASE step.state WHEN 'uncertain' THEN r.estimate_micros ELSE coalesce(step.cost, 0) END
            - CASE r.state WHEN 'uncertain' THEN r.estimate_micros ELSE coalesce(r.cost_micros, 0) END END,
        step.state = 'settled', r.state <> 'settled', coalesce(step.cost, 0) - coalesce(r.cost_micros, 0));
      changes := changes || change;
      r.budget_micros := CASE step.state WHEN 'settled' THEN least(r.budget_micros, step.cost) ELSE r.budget_micros END;
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
    PERFORM write_reservations(changed, p_first_id, p_last_id);
    PERFORM write_delegated_use(changes);
    PERFORM write_usage_days(changes);
    PERFORM write_seat_usage(changes);
  END IF;
END $$;
