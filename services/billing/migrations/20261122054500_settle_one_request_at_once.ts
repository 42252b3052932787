import type { Knex } from 'knex';

/**
 * Settlement of one reserved request, which is what gateways tell at the end of nearly every request: its rows are written as they
 * are, without building sets of one. Whoever is admitted next to the same account or wallet waits for this.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION ledger_post(
      p_kind text, p_reference text, p_svc_user_id text, p_currency text, p_books text[], p_amounts bigint[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF 0 = ALL (p_amounts) THEN RETURN; END IF;
      -- A posting and its entries are one statement.
      WITH posting AS (
        INSERT INTO ledger_postings (kind, reference, svc_user_id, currency, posted_at)
          VALUES (p_kind, p_reference, p_svc_user_id, p_currency, billing_now()) RETURNING id)
      INSERT INTO ledger_entries (posting_id, book, amount_micros)
        SELECT posting.id, entry.book, entry.amount
        FROM posting, unnest(p_books, p_amounts) AS entry (book, amount) WHERE entry.amount <> 0;
    END $$;

    -- As settlement_step decides of a reserved request; whatever else is told is decided by settle_many. The owner's row is locked
    -- before the request's, as everywhere.
    CREATE FUNCTION settle_one(
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

    -- What API keys use is no day of a subscription: then there is nothing to follow. Days are looked up by their key, whenever the plan
    -- was made: one made while the table was known to be empty read the whole index. A bitmap is made of what a condition names.
    CREATE OR REPLACE FUNCTION usage_days_follow() RETURNS trigger LANGUAGE plpgsql
    SET enable_hashjoin = on SET enable_indexscan = off AS $$
    BEGIN
      IF NOT EXISTS (SELECT FROM after_change WHERE kind = 'delegated') THEN RETURN NULL; END IF;
      MERGE INTO usage_days AS d USING (
        SELECT n.svc_user_id, (n.created_at AT TIME ZONE 'UTC')::date AS day, n.client_id, n.service,
            sum((n.state = 'settled')::int - (o.state = 'settled')::int) AS requests,
            sum(coalesce(n.cost_micros, 0) - coalesce(o.cost_micros, 0)) AS cost_micros
          FROM after_change AS n JOIN before_change AS o USING (request_id)
          WHERE n.kind = 'delegated' AND 'settled' IN (n.state, o.state)
          GROUP BY 1, 2, 3, 4) AS change
        ON (d.svc_user_id, d.day, d.client_id, d.service) = (change.svc_user_id, change.day, change.client_id, change.service)
        WHEN MATCHED AND (change.requests <> 0 OR change.cost_micros <> 0) THEN
          UPDATE SET requests = d.requests + change.requests, cost_micros = d.cost_micros + change.cost_micros
        WHEN NOT MATCHED THEN
          INSERT VALUES (change.svc_user_id, change.day, change.client_id, change.service, change.requests, change.cost_micros);
      RETURN NULL;
    END $$;
  `);
}
