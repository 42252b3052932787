import type { Knex } from 'knex';

/** As before, by a plan that reads one row whenever it was made: over a small table, the index of reserved requests looked as good as the key. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- As settlement_step decides of a reserved request; whatever else is told is decided by settle_many. The owner's row is locked
    -- before the request's, as everywhere.
    CREATE OR REPLACE FUNCTION settle_one(
      p_request_id text, p_outcome text, p_cost bigint, p_currency text,
      OUT request_id text, OUT state text, OUT effect text, OUT over_hold_micros bigint)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '1s' AS $$
    #variable_conflict use_column
    DECLARE
      at timestamptz := billing_now();
      booked bigint := CASE p_outcome WHEN 'settled' THEN p_cost WHEN 'released' THEN 0 END;
      told record;
      r record;
      is_ended boolean := false;
    BEGIN
      SELECT kind, svc_user_id, state INTO told FROM reservations WHERE request_id = p_request_id;
      IF told.state = 'reserved' AND booked IS NOT NULL THEN
        IF told.kind = 'delegated' THEN PERFORM FROM accounts WHERE svc_user_id = told.svc_user_id FOR NO KEY UPDATE;
        ELSE PERFORM FROM wallets WHERE svc_user_id = told.svc_user_id FOR NO KEY UPDATE; END IF;
        -- Named as a constant, the state would invite a plan that reads the index of all that are reserved.
        UPDATE reservations SET state = p_outcome, ended_at = at,
            settled_by = CASE p_outcome WHEN 'settled' THEN 'usage' END, cost_micros = CASE p_outcome WHEN 'settled' THEN p_cost END
          WHERE request_id = p_request_id AND state = told.state
          RETURNING key_id, estimate_micros, week_start, month_start INTO r;
        is_ended := FOUND;
      END IF;
      IF NOT is_ended THEN
        SELECT s.request_id, s.state, s.effect, s.over_hold_micros INTO request_id, state, effect, over_hold_micros
          FROM settle_many(ARRAY[p_request_id], ARRAY[p_outcome], ARRAY[p_cost], p_currency) AS s;
        RETURN;
      END IF;

      request_id := p_request_id;
      state := p_outcome;
      effect := p_outcome;
      IF told.kind = 'delegated' THEN
        UPDATE accounts SET pending = pending - 1,
            week_used_micros = week_used_micros + CASE week_start WHEN r.week_start THEN booked ELSE 0 END,
            month_used_micros = month_used_micros + CASE month_start WHEN r.month_start THEN booked ELSE 0 END
          WHERE svc_user_id = told.svc_user_id;
        PERFORM ledger_post('usage', p_request_id, told.svc_user_id, p_currency, ARRAY['usage', 'allowance'], ARRAY[booked, -booked]);
      ELSE
        over_hold_micros := greatest(booked - r.estimate_micros, 0);
        UPDATE wallets SET held_micros = held_micros - r.estimate_micros, balance_micros = balance_micros - booked
          WHERE svc_user_id = told.svc_user_id;
        IF booked <> 0 THEN
          UPDATE key_budgets SET month_used_micros = month_used_micros + booked
            WHERE key_id = r.key_id AND month_start = r.month_start;
        END IF;
        PERFORM ledger_post(CASE p_outcome WHEN 'released' THEN 'release' ELSE 'settlement' END, p_request_id, told.svc_user_id,
          p_currency, ARRAY['wallet_held', 'wallet_available', 'income'],
          ARRAY[-r.estimate_micros, r.estimate_micros - booked, booked]);
      END IF;
    END $$;
  `);
}
