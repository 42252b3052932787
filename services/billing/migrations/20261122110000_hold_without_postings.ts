import type { Knex } from 'knex';

/**
 * A hold is no posting: the open reservation is the hold, as the authorization of a card moves no money. Admissions and releases
 * post nothing, a settlement posts its cost. What open requests hold in the ledger is given back there, so that nothing is left in
 * its book of holds; the wallet's row goes on holding it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whoever holds, settles or releases locks the wallet's row first, so this waits until those under way have committed, and keeps the
    -- others out: what is open below is all that is, with its posting. Nothing else is waited for, so there is no circle; reading goes on.
    LOCK TABLE wallets IN EXCLUSIVE MODE;

    -- One release for each, which nothing posts after this, so that no reference meets it again. OR, as IN would use neither of the
    -- indexes of open requests.
    WITH held AS MATERIALIZED (
      SELECT nextval('ledger_postings_id_seq') AS id, p.reference, p.svc_user_id, p.currency, e.amount_micros AS amount
      FROM reservations AS r
        JOIN ledger_postings AS p ON p.reference = r.request_id AND p.kind = 'hold'
        JOIN ledger_entries AS e ON e.posting_id = p.id AND e.book = 'wallet_held'
      WHERE r.kind = 'api_key' AND (r.state = 'reserved' OR r.state = 'uncertain')
    ), posted AS (
      INSERT INTO ledger_postings (id, kind, reference, svc_user_id, currency, posted_at)
      OVERRIDING SYSTEM VALUE
      SELECT id, 'release', reference, svc_user_id, currency, billing_now() FROM held
    )
    INSERT INTO ledger_entries (posting_id, book, amount_micros)
      SELECT held.id, entry.book, entry.amount FROM held,
        LATERAL (VALUES ('wallet_held', -held.amount), ('wallet_available', held.amount)) AS entry (book, amount);

    -- Calls that began before and wait for the lock above go on as the functions were: they would post a hold, or release one again.
    -- They are refused like one that has waited too long for a row, which is made again, by the functions as they are now; a release is
    -- refused as one that is posted, and made again by its fact.
    CREATE OR REPLACE FUNCTION ledger_assert_entries() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    DECLARE fault record;
    BEGIN
      SELECT a.posting_id AS posting, sum(a.amount_micros) AS total, bool_and(p.id IS NOT NULL) AS is_posted INTO fault
        FROM added AS a LEFT JOIN ledger_postings AS p ON p.id = a.posting_id
        GROUP BY a.posting_id HAVING sum(a.amount_micros) <> 0 OR bool_or(p.id IS NULL OR a.book = 'wallet_held') LIMIT 1;
      IF FOUND AND NOT fault.is_posted THEN
        RAISE EXCEPTION 'there is no ledger posting %', fault.posting USING ERRCODE = 'foreign_key_violation';
      ELSIF FOUND AND fault.total = 0 THEN
        RAISE EXCEPTION 'ledger posting % is of a hold, which is no posting any more: call again', fault.posting
          USING ERRCODE = 'lock_not_available';
      ELSIF FOUND THEN
        RAISE EXCEPTION 'entries for ledger posting % sum to %, not to 0', fault.posting, fault.total
          USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$;

    -- Requests of one key, decided in this order: rate, monthly limit of the key, wallet. What is refused altogether is refused
    -- without a lock; the wallet's row is locked before the key's, as settlement does.
    CREATE OR REPLACE FUNCTION admit_for_key(
      p_svc_user_id text, p_key_id text, p_places bigint[], p_request_ids text[], p_holds bigint[],
      p_per_minute int[], p_monthly_limits bigint[])
    RETURNS TABLE (place bigint, verdict text, resets_at timestamptz, rate_remaining int, rate_reset_ms int)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_variable
    DECLARE
      w wallets%ROWTYPE;
      k key_budgets%ROWTYPE;
      at timestamptz;
      month timestamptz;
      earlier text[] := '{}';
      free bigint;
      used int;
      verdicts text[];
      remaining int[];
      taken_ids text[];
      taken_holds bigint[];
      held bigint;
      inserted int := 0;
    BEGIN
      FOR look IN 1..2 LOOP
        IF look = 1 THEN
          SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id;
          SELECT * INTO k FROM key_budgets WHERE key_id = p_key_id;
        ELSE
          SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
          SELECT * INTO k FROM key_budgets WHERE key_id = p_key_id FOR NO KEY UPDATE;
          IF k.key_id IS NULL THEN
            INSERT INTO key_budgets (key_id, svc_user_id, minute_start, month_start)
              VALUES (p_key_id, p_svc_user_id, at, month) ON CONFLICT (key_id) DO NOTHING;
            SELECT * INTO k FROM key_budgets WHERE key_id = p_key_id FOR NO KEY UPDATE;
          END IF;
          earlier := ARRAY(SELECT r.request_id FROM reservations AS r WHERE r.request_id = ANY (p_request_ids));
        END IF;
        at := billing_now();
        month := date_trunc('month', at, 'UTC');
        IF k.key_id IS NULL OR at >= k.minute_start + interval '60 seconds' THEN
          k.minute_start := at;
          k.minute_count := 0;
        END IF;
        IF k.key_id IS NULL OR month > k.month_start THEN
          k.month_start := month;
          k.month_used_micros := 0;
        END IF;
        free := w.balance_micros - w.held_micros;
        used := k.minute_count;
        verdicts := '{}';
        remaining := '{}';
        taken_ids := '{}';
        taken_holds := '{}';
        FOR n IN 1..cardinality(p_request_ids) LOOP
          verdict := CASE
            WHEN used >= p_per_minute[n] THEN 'rate_limit_exceeded'
            WHEN k.month_used_micros >= p_monthly_limits[n] THEN 'key_monthly_limit_exceeded'
            WHEN free IS NULL OR free < p_holds[n] THEN 'insufficient_balance'
            ELSE 'admitted'
          END;
          IF verdict = 'admitted' AND p_request_ids[n] <> ALL (earlier) AND p_request_ids[n] <> ALL (taken_ids) THEN
            free := free - p_holds[n];
            used := used + 1;
            taken_ids := taken_ids || p_request_ids[n];
            taken_holds := taken_holds || p_holds[n];
          END IF;
          verdicts := verdicts || verdict;
          remaining := remaining || greatest(p_per_minute[n] - used, 0);
        END LOOP;
        EXIT WHEN taken_ids = '{}';
      END LOOP;

      IF taken_ids <> '{}' THEN
        WITH new AS (
          INSERT INTO reservations (request_id, kind, svc_user_id, key_id, estimate_micros, month_start, created_at)
            SELECT t.id, 'api_key', p_svc_user_id, p_key_id, t.hold, k.month_start, at
            FROM unnest(taken_ids, taken_holds) AS t (id, hold)
            ON CONFLICT DO NOTHING RETURNING estimate_micros)
        SELECT count(*), coalesce(sum(n.estimate_micros), 0) INTO inserted, held FROM new AS n;
        UPDATE wallets SET held_micros = held_micros + held WHERE svc_user_id = p_svc_user_id;
        UPDATE key_budgets SET minute_start = k.minute_start, minute_count = k.minute_count + inserted,
            month_start = k.month_start, month_used_micros = k.month_used_micros
          WHERE key_id = p_key_id;
      END IF;

      FOR n IN 1..cardinality(p_request_ids) LOOP
        place := p_places[n];
        verdict := verdicts[n];
        rate_remaining := remaining[n];
        rate_reset_ms := least(60000, ceil(extract(epoch FROM k.minute_start + interval '60 seconds' - at) * 1000));
        resets_at := CASE verdict WHEN 'key_monthly_limit_exceeded' THEN monthly_anniversary(k.month_start, 1)
          WHEN 'rate_limit_exceeded' THEN k.minute_start + interval '60 seconds' END;
        -- A request that was admitted earlier is not refused now, and an id that is in use is not admitted.
        IF verdict <> 'admitted' OR inserted < cardinality(p_request_ids) THEN
          verdict := coalesce(recall_keyed(p_request_ids[n], p_svc_user_id, p_key_id), verdict);
          IF verdict IN ('admitted', 'request_id_taken') THEN resets_at := NULL; END IF;
        END IF;
        RETURN NEXT;
      END LOOP;
    END $$;

    -- Wallet and budget are locked only as far as they admit, as they are seen and again as they are once locked: a refusal locks
    -- nothing. Whatever is not plain (a refusal, a repetition, a key's first request, a new minute or month) is decided as a set of one.
    CREATE OR REPLACE FUNCTION admit_one_keyed(
      p_request_id text, p_svc_user_id text, p_key_id text, p_hold_micros bigint, p_per_minute int, p_monthly_limit bigint,
      OUT verdict text, OUT resets_at timestamptz, OUT rate_remaining int, OUT rate_reset_ms int)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '1s' AS $$
    DECLARE
      at timestamptz := billing_now();
      minute timestamptz;
      month timestamptz;
      used int;
    BEGIN
      SELECT k.minute_start, k.month_start, k.minute_count INTO minute, month, used
        FROM wallets AS w JOIN key_budgets AS k ON k.svc_user_id = w.svc_user_id
        WHERE w.svc_user_id = p_svc_user_id AND k.key_id = p_key_id
          AND w.balance_micros - w.held_micros >= p_hold_micros
          AND k.month_start >= date_trunc('month', at, 'UTC')
          AND (p_monthly_limit IS NULL OR k.month_used_micros < p_monthly_limit)
          AND (p_per_minute IS NULL OR k.minute_start > at - interval '60 seconds' AND k.minute_count < p_per_minute)
        FOR NO KEY UPDATE;
      IF FOUND THEN
        INSERT INTO reservations (request_id, kind, svc_user_id, key_id, estimate_micros, month_start, created_at)
          VALUES (p_request_id, 'api_key', p_svc_user_id, p_key_id, p_hold_micros, month, at)
          ON CONFLICT DO NOTHING;
      END IF;
      IF NOT FOUND THEN
        SELECT a.verdict, a.resets_at, a.rate_remaining, a.rate_reset_ms INTO verdict, resets_at, rate_remaining, rate_reset_ms
          FROM admit_for_key(p_svc_user_id, p_key_id, ARRAY[1::bigint], ARRAY[p_request_id], ARRAY[p_hold_micros],
            ARRAY[p_per_minute], ARRAY[p_monthly_limit]) AS a;
        RETURN;
      END IF;

      UPDATE wallets SET held_micros = held_micros + p_hold_micros WHERE svc_user_id = p_svc_user_id;
      -- The minutes of a key without a limit count nothing.
      IF p_per_minute IS NOT NULL THEN
        UPDATE key_budgets SET minute_count = minute_count + 1 WHERE key_id = p_key_id;
        rate_remaining := p_per_minute - used - 1;
        rate_reset_ms := least(60000, ceil(extract(epoch FROM minute + interval '60 seconds' - at) * 1000));
      END IF;
      verdict := 'admitted';
    END $$;

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
        PERFORM ledger_post('settlement', p_request_id, told.svc_user_id, p_currency, ARRAY['wallet_available', 'income'],
          ARRAY[-booked, booked]);
      END IF;
    END $$;

    -- What a batch tells of each request for the so-many-th time; the owners of those that can still change are locked.
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
      ), key_changes AS (
        UPDATE key_budgets AS k SET month_used_micros = k.month_used_micros + c.counted
          FROM (SELECT key_id, month_start, sum(counted) AS counted FROM change
                WHERE kind = 'api_key' GROUP BY key_id, month_start HAVING sum(counted) <> 0) AS c
          WHERE k.key_id = c.key_id AND k.month_start = c.month_start
      ), wallet_changes AS (
        UPDATE wallets AS w SET held_micros = w.held_micros - c.freed, balance_micros = w.balance_micros - c.booked
          FROM (SELECT svc_user_id, sum(freed) AS freed, sum(booked) AS booked FROM change
                WHERE kind = 'api_key' GROUP BY svc_user_id) AS c
          WHERE w.svc_user_id = c.svc_user_id
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
          funds.kinds AS funds_kinds, funds.ids AS funds_ids, funds.owners AS funds_owners, funds.amounts AS funds_amounts
        INTO done FROM result, usage, funds;
      IF done.usage_kinds IS NOT NULL THEN
        PERFORM ledger_post_many(done.usage_kinds, done.usage_ids, done.usage_owners, p_currency,
          ARRAY['usage', 'allowance'], done.usage_amounts);
      END IF;
      IF done.funds_kinds IS NOT NULL THEN
        PERFORM ledger_post_many(done.funds_kinds, done.funds_ids, done.funds_owners, p_currency,
          ARRAY['wallet_available', 'income'], done.funds_amounts);
      END IF;
      RETURN QUERY SELECT * FROM unnest(done.places, done.ids, done.states, done.effects, done.over_holds);
    END $$;
  `);
}
