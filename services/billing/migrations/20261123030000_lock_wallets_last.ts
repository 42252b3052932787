import type { Knex } from 'knex';

/**
 * Settlement locks a wallet last. Every admission that the wallet pays for waits for its row, and most of what a settlement does has
 * nothing to do with it: the requests are locked first, decided and posted, and the wallet and its keys are written just before the
 * commit. Subscribers go on being locked first: their days of use follow the requests, and are written by one at a time.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Locks are taken in this order by all: accounts, requests, wallets, keys. An admission takes a wallet, a key, and a request that nobody
    -- else knows yet.
    CREATE OR REPLACE FUNCTION settle_many(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
    RETURNS TABLE (request_id text, state text, effect text, over_hold_micros bigint)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
    SET enable_mergejoin = off AS $$
    #variable_conflict use_column
    DECLARE
      subscribers text[];
      funded text[];
      seen boolean[];
      turns int;
    BEGIN
      -- turn: how often the request has been named before this place, and once more.
      SELECT array_agg(DISTINCT r.svc_user_id) FILTER (WHERE r.kind = 'delegated' AND r.is_open),
          array_agg(r.request_id ORDER BY r.request_id) FILTER (WHERE r.kind = 'api_key' AND r.is_open),
          array_agg(r.request_id IS NOT NULL ORDER BY told.place), max(told.turn)
        INTO subscribers, funded, seen, turns
        FROM (SELECT t.request_id, t.place, row_number() OVER (PARTITION BY t.request_id ORDER BY t.place) AS turn
              FROM unnest(p_request_ids) WITH ORDINALITY AS t (request_id, place)) AS told
        LEFT JOIN (SELECT res.request_id, res.kind, res.svc_user_id,
                     res.state IN ('reserved', 'uncertain') OR res.settled_by = 'estimate' AS is_open
                   FROM reservations AS res) AS r ON r.request_id = told.request_id;
      IF subscribers IS NOT NULL THEN
        PERFORM FROM accounts AS a WHERE a.svc_user_id = ANY (subscribers) ORDER BY a.svc_user_id FOR NO KEY UPDATE;
      END IF;
      IF funded IS NOT NULL THEN
        PERFORM FROM reservations AS res WHERE res.request_id = ANY (funded) ORDER BY res.request_id FOR NO KEY UPDATE;
        -- Wallets are locked in their order, so those of all turns at once.
        IF turns > 1 THEN
          PERFORM FROM wallets AS w
            WHERE w.svc_user_id IN (SELECT res.svc_user_id FROM reservations AS res WHERE res.request_id = ANY (funded))
            ORDER BY w.svc_user_id FOR NO KEY UPDATE;
        END IF;
      END IF;

      RETURN QUERY SELECT s.request_id, s.state, s.effect, s.over_hold_micros
        FROM generate_series(1, turns) AS turn,
          LATERAL settle_turn(p_request_ids, p_outcomes, p_costs, seen, turn::int, p_currency) AS s
        ORDER BY s.place;
    END $$;

    -- What a batch tells of each request for the so-many-th time; accounts, and requests that can still change, are locked.
    CREATE OR REPLACE FUNCTION settle_turn(
      p_request_ids text[], p_outcomes text[], p_costs bigint[], p_seen boolean[], p_turn int, p_currency text)
    RETURNS TABLE (place bigint, request_id text, state text, effect text, over_hold_micros bigint)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      at timestamptz := billing_now();
      done record;
    BEGIN
      WITH named AS (
        SELECT t.*, row_number() OVER (PARTITION BY t.request_id ORDER BY t.place) AS turn
        FROM unnest(p_request_ids, p_outcomes, p_costs, p_seen) WITH ORDINALITY AS t (request_id, outcome, cost, is_seen, place)
      ), decided AS MATERIALIZED (
        SELECT n.place, n.request_id AS named_id, r.*,
          settlement_step(r.state, r.settled_by, r.cost_micros, r.estimate_micros, n.outcome, n.cost) AS step
        FROM named AS n LEFT JOIN reservations AS r ON r.request_id = n.request_id AND n.is_seen
        WHERE n.turn = p_turn
      ), change AS MATERIALIZED (
        -- counted: change of what counts against limits, which is cost, or the estimate while uncertain. booked: change of what
        -- is booked as cost. freed: what is no longer held.
        SELECT d.*,
          CASE (step).state WHEN 'uncertain' THEN estimate_micros ELSE coalesce((step).cost, 0) END
            - CASE state WHEN 'uncertain' THEN estimate_micros ELSE coalesce(cost_micros, 0) END AS counted,
          coalesce((step).cost, 0) - coalesce(cost_micros, 0) AS booked,
          CASE WHEN state IN ('reserved', 'uncertain') AND (step).state IN ('settled', 'released')
            THEN estimate_micros ELSE 0 END AS freed
        FROM decided AS d WHERE request_id IS NOT NULL AND (step).effect NOT IN ('none', 'conflict')
      ), reservation_changes AS (
        UPDATE reservations AS r SET state = (c.step).state, settled_by = (c.step).settled_by, cost_micros = (c.step).cost,
            uncertain_at = CASE (c.step).effect WHEN 'uncertain' THEN at ELSE r.uncertain_at END,
            ended_at = CASE WHEN (c.step).effect IN ('settled', 'released') THEN at ELSE r.ended_at END,
            adjusted_at = CASE (c.step).effect WHEN 'adjusted' THEN at END
          FROM change AS c WHERE r.request_id = c.request_id
      ), account_changes AS (
        UPDATE accounts AS a SET pending = a.pending - c.places,
            week_used_micros = a.week_used_micros + c.week, month_used_micros = a.month_used_micros + c.month
          FROM (SELECT o.svc_user_id, count(*) FILTER (WHERE c.state = 'reserved') AS places,
                  coalesce(sum(c.counted) FILTER (WHERE c.week_start = o.week_start), 0) AS week,
                  coalesce(sum(c.counted) FILTER (WHERE c.month_start = o.month_start), 0) AS month
                FROM change AS c JOIN accounts AS o ON o.svc_user_id = c.svc_user_id
                WHERE c.kind = 'delegated' GROUP BY o.svc_user_id) AS c
          WHERE a.svc_user_id = c.svc_user_id
      ), budgets AS (
        SELECT array_agg(key_id) AS keys, array_agg(month_start) AS months, array_agg(counted) AS counted
        FROM (SELECT key_id, month_start, sum(counted)::bigint AS counted FROM change
              WHERE kind = 'api_key' GROUP BY key_id, month_start HAVING sum(counted) <> 0) AS c
      ), owners AS (
        SELECT array_agg(svc_user_id ORDER BY svc_user_id) AS ids, array_agg(freed ORDER BY svc_user_id) AS freed,
          array_agg(booked ORDER BY svc_user_id) AS booked
        FROM (SELECT svc_user_id, sum(freed)::bigint AS freed, sum(booked)::bigint AS booked FROM change
              WHERE kind = 'api_key' GROUP BY svc_user_id) AS c
      ), usage AS (
        SELECT array_agg(CASE (step).effect WHEN 'adjusted' THEN 'usage_adjustment' ELSE 'usage' END ORDER BY place) AS kinds,
          array_agg(request_id ORDER BY place) AS ids, array_agg(svc_user_id ORDER BY place) AS owners,
          array_agg(ARRAY[booked, -booked] ORDER BY place) AS amounts
        FROM change WHERE kind = 'delegated' AND booked <> 0
      ), funds AS (
        SELECT array_agg(CASE (step).effect WHEN 'adjusted' THEN 'adjustment' ELSE 'settlement' END ORDER BY place) AS kinds,
          array_agg(request_id ORDER BY place) AS ids, array_agg(svc_user_id ORDER BY place) AS owners,
          array_agg(ARRAY[-booked, booked] ORDER BY place) AS amounts
        FROM change WHERE kind = 'api_key' AND booked <> 0
      ), result AS (
        SELECT array_agg(place) AS places, array_agg(named_id) AS ids,
          array_agg(CASE WHEN request_id IS NOT NULL THEN (step).state END) AS states,
          array_agg(CASE WHEN request_id IS NULL THEN 'unknown' ELSE (step).effect END) AS effects,
          array_agg(CASE WHEN kind = 'api_key' AND (step).effect NOT IN ('none', 'conflict')
            THEN greatest((step).cost - estimate_micros, 0) END) AS over_holds
        FROM decided
      )
      SELECT result.*, usage.kinds AS usage_kinds, usage.ids AS usage_ids, usage.owners AS usage_owners, usage.amounts AS usage_amounts,
          funds.kinds AS funds_kinds, funds.ids AS funds_ids, funds.owners AS funds_owners, funds.amounts AS funds_amounts,
          owners.ids AS owner_ids, owners.freed, owners.booked, budgets.keys, budgets.months, budgets.counted
        INTO done FROM result, usage, funds, owners, budgets;
      IF done.usage_kinds IS NOT NULL THEN
        PERFORM ledger_post_many(done.usage_kinds, done.usage_ids, done.usage_owners, p_currency,
          ARRAY['usage', 'allowance'], done.usage_amounts);
      END IF;
      IF done.funds_kinds IS NOT NULL THEN
        PERFORM ledger_post_many(done.funds_kinds, done.funds_ids, done.funds_owners, p_currency,
          ARRAY['wallet_available', 'income'], done.funds_amounts);
      END IF;
      IF cardinality(done.owner_ids) > 1 THEN
        PERFORM FROM wallets AS w WHERE w.svc_user_id = ANY (done.owner_ids) ORDER BY w.svc_user_id FOR NO KEY UPDATE;
      END IF;
      IF done.owner_ids IS NOT NULL THEN
        UPDATE wallets AS w SET held_micros = w.held_micros - c.freed, balance_micros = w.balance_micros - c.booked
          FROM unnest(done.owner_ids, done.freed, done.booked) AS c (svc_user_id, freed, booked)
          WHERE w.svc_user_id = c.svc_user_id;
      END IF;
      IF done.keys IS NOT NULL THEN
        UPDATE key_budgets AS k SET month_used_micros = k.month_used_micros + c.counted
          FROM unnest(done.keys, done.months, done.counted) AS c (key_id, month_start, counted)
          WHERE k.key_id = c.key_id AND k.month_start = c.month_start;
      END IF;
      RETURN QUERY SELECT * FROM unnest(done.places, done.ids, done.states, done.effects, done.over_holds);
    END $$;

    -- As settlement_step decides of a reserved request; whatever else is told is decided by settle_many.
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
        IF told.kind = 'delegated' THEN
          PERFORM FROM accounts WHERE svc_user_id = told.svc_user_id FOR NO KEY UPDATE;
        END IF;
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
        PERFORM ledger_post('settlement', p_request_id, told.svc_user_id, p_currency, ARRAY['wallet_available', 'income'],
          ARRAY[-booked, booked]);
        UPDATE wallets SET held_micros = held_micros - r.estimate_micros, balance_micros = balance_micros - booked
          WHERE svc_user_id = told.svc_user_id;
        IF booked <> 0 THEN
          UPDATE key_budgets SET month_used_micros = month_used_micros + booked
            WHERE key_id = r.key_id AND month_start = r.month_start;
        END IF;
      END IF;
    END $$;
  `);
}
