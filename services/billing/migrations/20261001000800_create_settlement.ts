import type { Knex } from 'knex';

/**
 * Settlement: how reservations end, each exactly once, whatever arrives twice, late or out of order. Everything that a
 * change of state does to counters, wallets and the ledger follows from what counted before it and what counts after it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The state machine. Outcomes: settled, released and uncertain as the gateway tells them, and estimate, which only the
    -- sweep says, of requests that stayed uncertain for too long. A release is proof of a cost of zero.
    -- effect: none, settled, released, uncertain, adjusted, or conflict: another end than the one already recorded.
    CREATE FUNCTION settlement_step(
      p_state text, p_settled_by text, p_cost bigint, p_estimate bigint, p_outcome text, p_outcome_cost bigint,
      OUT state text, OUT settled_by text, OUT cost bigint, OUT effect text)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE told bigint := CASE p_outcome WHEN 'settled' THEN p_outcome_cost WHEN 'released' THEN 0 END;
    BEGIN
      state := p_state;
      settled_by := p_settled_by;
      cost := p_cost;
      effect := 'none';
      IF p_state = 'reserved' AND p_outcome IN ('released', 'uncertain') THEN
        state := p_outcome;
        effect := p_outcome;
      ELSIF p_state IN ('reserved', 'uncertain') AND told IS NOT NULL THEN
        state := 'settled';
        settled_by := 'usage';
        cost := told;
        effect := 'settled';
      ELSIF p_state = 'uncertain' AND p_outcome = 'estimate' THEN
        state := 'settled';
        settled_by := 'estimate';
        cost := p_estimate;
        effect := 'settled';
      ELSIF p_state = 'settled' AND p_settled_by = 'estimate' AND told IS NOT NULL THEN
        settled_by := 'usage';
        cost := told;
        effect := 'adjusted';
      ELSIF told IS DISTINCT FROM coalesce(p_cost, 0) AND told IS NOT NULL THEN
        effect := 'conflict';
      END IF;
    END $$;

    -- One request, whose owner's row is locked. Answers null where it was never admitted.
    CREATE FUNCTION settle_one(
      p_request_id text, p_outcome text, p_cost bigint, p_currency text,
      OUT state text, OUT effect text, OUT over_hold_micros bigint)
    LANGUAGE plpgsql AS $$
    DECLARE
      r reservations%ROWTYPE;
      step record;
      counted bigint; -- change of what counts against limits: cost, or the estimate while uncertain
      booked bigint;  -- change of what is booked as cost
      freed bigint;   -- what is no longer held or reserved
      at timestamptz;
    BEGIN
      SELECT * INTO r FROM reservations WHERE request_id = p_request_id FOR NO KEY UPDATE;
      IF NOT FOUND THEN effect := 'unknown'; RETURN; END IF;
      SELECT * INTO step FROM settlement_step(r.state, r.settled_by, r.cost_micros, r.estimate_micros, p_outcome, p_cost);
      state := step.state;
      effect := step.effect;
      IF effect IN ('none', 'conflict') THEN RETURN; END IF;

      at := billing_now();
      counted := CASE step.state WHEN 'uncertain' THEN r.estimate_micros ELSE coalesce(step.cost, 0) END
        - CASE r.state WHEN 'uncertain' THEN r.estimate_micros ELSE coalesce(r.cost_micros, 0) END;
      booked := coalesce(step.cost, 0) - coalesce(r.cost_micros, 0);
      freed := CASE WHEN r.state IN ('reserved', 'uncertain') AND step.state IN ('settled', 'released')
        THEN r.estimate_micros ELSE 0 END;
      UPDATE reservations SET state = step.state, settled_by = step.settled_by, cost_micros = step.cost,
          uncertain_at = CASE effect WHEN 'uncertain' THEN at ELSE uncertain_at END,
          ended_at = CASE WHEN effect IN ('settled', 'released') THEN at ELSE ended_at END,
          adjusted_at = CASE effect WHEN 'adjusted' THEN at END
        WHERE request_id = p_request_id;

      IF r.kind = 'delegated' THEN
        UPDATE accounts AS a SET
            pending = a.pending - CASE r.state WHEN 'reserved' THEN 1 ELSE 0 END,
            week_used_micros = a.week_used_micros + CASE WHEN a.week_start = r.week_start THEN counted ELSE 0 END,
            month_used_micros = a.month_used_micros + CASE WHEN a.month_start = r.month_start THEN counted ELSE 0 END
          WHERE a.svc_user_id = r.svc_user_id;
        PERFORM ledger_post(CASE effect WHEN 'adjusted' THEN 'usage_adjustment' ELSE 'usage' END,
          p_request_id, r.svc_user_id, p_currency, ARRAY['usage', 'allowance'], ARRAY[booked, -booked]);
      ELSE
        UPDATE key_budgets AS k SET month_used_micros = k.month_used_micros + counted
          WHERE k.key_id = r.key_id AND k.month_start = r.month_start AND counted <> 0;
        IF freed <> 0 OR booked <> 0 THEN
          PERFORM wallet_settle(r.svc_user_id,
            CASE effect WHEN 'adjusted' THEN 'adjustment' WHEN 'released' THEN 'release' ELSE 'settlement' END,
            p_request_id, freed, booked);
        END IF;
        over_hold_micros := greatest(step.cost - r.estimate_micros, 0);
      END IF;
    END $$;

    -- Many at once, in the order given. Owners are locked first and in one order, so that batches never wait in a circle.
    -- Without sequential scans, as a plan that was made while the tables were small must not outlive that.
    CREATE FUNCTION settle_many(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
    RETURNS TABLE (request_id text, state text, effect text, over_hold_micros bigint)
    LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE
      subscribers text[];
      wallet_owners text[];
    BEGIN
      SELECT array_agg(r.svc_user_id) FILTER (WHERE r.kind = 'delegated'), array_agg(r.svc_user_id) FILTER (WHERE r.kind = 'api_key')
        INTO subscribers, wallet_owners FROM reservations AS r WHERE r.request_id = ANY (p_request_ids);
      IF subscribers IS NOT NULL THEN
        PERFORM FROM accounts AS a WHERE a.svc_user_id = ANY (subscribers) ORDER BY a.svc_user_id FOR NO KEY UPDATE;
      END IF;
      IF wallet_owners IS NOT NULL THEN
        PERFORM FROM wallets AS w WHERE w.svc_user_id = ANY (wallet_owners) ORDER BY w.svc_user_id FOR NO KEY UPDATE;
      END IF;
      FOR place IN 1 .. cardinality(p_request_ids) LOOP
        request_id := p_request_ids[place];
        SELECT s.state, s.effect, s.over_hold_micros INTO state, effect, over_hold_micros
          FROM settle_one(request_id, p_outcomes[place], p_costs[place], p_currency) AS s;
        RETURN NEXT;
      END LOOP;
    END $$;
  `);
}
