import type { Knex } from 'knex';

/**
 * Settlement by sets: what a batch tells is looked up, decided and written by a fixed number of statements, however many
 * requests it is about. Repetitions of what is recorded lock nobody.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- As ledger_post, for many postings that all use these books. One row of amounts for each posting, none of them all zero.
    CREATE FUNCTION ledger_post_many(
      p_kinds text[], p_references text[], p_svc_user_ids text[], p_currency text, p_books text[], p_amounts bigint[][])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      WITH posting AS MATERIALIZED (
        SELECT nextval('ledger_postings_id_seq') AS id, t.*
        FROM unnest(p_kinds, p_references, p_svc_user_ids) WITH ORDINALITY AS t (kind, reference, svc_user_id, place)
      ), written AS (
        INSERT INTO ledger_postings (id, kind, reference, svc_user_id, currency, posted_at)
        OVERRIDING SYSTEM VALUE
        SELECT id, kind, reference, svc_user_id, p_currency, billing_now() FROM posting
      )
      INSERT INTO ledger_entries (posting_id, book, amount_micros)
        SELECT posting.id, p_books[n], p_amounts[posting.place][n]
        FROM posting, generate_series(1, cardinality(p_books)) AS n
        WHERE p_amounts[posting.place][n] <> 0;
    END $$;

    -- A posting is summed up once, when it is committed. Its entries need no look of their own, unless they come later.
    CREATE FUNCTION ledger_assert_added() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      posting bigint;
      total bigint;
    BEGIN
      SELECT e.posting_id, sum(e.amount_micros) INTO posting, total
        FROM (SELECT DISTINCT a.posting_id FROM added AS a JOIN ledger_postings AS p ON p.id = a.posting_id
              WHERE p.xmin <> pg_current_xact_id()::xid) AS late
        JOIN ledger_entries AS e USING (posting_id)
        GROUP BY e.posting_id HAVING sum(e.amount_micros) <> 0 LIMIT 1;
      IF FOUND THEN
        RAISE EXCEPTION 'ledger posting % sums to %, not to 0', posting, total USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$;
    DROP TRIGGER ledger_entries_balanced ON ledger_entries;
    CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_assert_added();
    CREATE OR REPLACE FUNCTION ledger_assert_balanced() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE total bigint;
    BEGIN
      SELECT sum(amount_micros) INTO total FROM ledger_entries WHERE posting_id = NEW.id;
      IF total IS DISTINCT FROM 0 THEN
        RAISE EXCEPTION 'ledger posting % sums to %, not to 0', NEW.id, total USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$;

    -- What a batch tells of each request for the so-many-th time; the owners of those that can still change are locked.
    CREATE FUNCTION settle_turn(
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
        SELECT array_agg(CASE (step).effect WHEN 'adjusted' THEN 'adjustment' WHEN 'released' THEN 'release' ELSE 'settlement' END
            ORDER BY place) AS kinds,
          array_agg(request_id ORDER BY place) AS ids, array_agg(svc_user_id ORDER BY place) AS owners,
          array_agg(ARRAY[-freed, freed - booked, booked] ORDER BY place) AS amounts
        FROM change WHERE kind = 'api_key' AND (freed <> 0 OR booked <> 0)
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
          ARRAY['wallet_held', 'wallet_available', 'income'], done.funds_amounts);
      END IF;
      RETURN QUERY SELECT * FROM unnest(done.places, done.ids, done.states, done.effects, done.over_holds);
    END $$;

    -- Many at once; what is told twice of one request is taken in the order given. Owners are locked first and in one order, so
    -- that batches never wait in a circle; not those of requests whose end is final, which nothing changes any more.
    -- Only joins by index, as a plan that was made while the tables were small must not outlive that; and one plan for batches of
    -- every size, as making one takes longer than settling a request.
    CREATE OR REPLACE FUNCTION settle_many(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
    RETURNS TABLE (request_id text, state text, effect text, over_hold_micros bigint)
    LANGUAGE plpgsql
    SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    #variable_conflict use_column
    DECLARE
      subscribers text[];
      wallet_owners text[];
      seen boolean[];
      turns int;
    BEGIN
      -- turn: how often the request has been named before this place, and once more.
      SELECT array_agg(DISTINCT r.svc_user_id) FILTER (WHERE r.kind = 'delegated' AND r.is_open),
          array_agg(DISTINCT r.svc_user_id) FILTER (WHERE r.kind = 'api_key' AND r.is_open),
          array_agg(r.request_id IS NOT NULL ORDER BY told.place), max(told.turn)
        INTO subscribers, wallet_owners, seen, turns
        FROM (SELECT t.request_id, t.place, row_number() OVER (PARTITION BY t.request_id ORDER BY t.place) AS turn
              FROM unnest(p_request_ids) WITH ORDINALITY AS t (request_id, place)) AS told
        LEFT JOIN (SELECT res.request_id, res.kind, res.svc_user_id,
                     res.state IN ('reserved', 'uncertain') OR res.settled_by = 'estimate' AS is_open
                   FROM reservations AS res) AS r ON r.request_id = told.request_id;
      IF subscribers IS NOT NULL THEN
        PERFORM FROM accounts AS a WHERE a.svc_user_id = ANY (subscribers) ORDER BY a.svc_user_id FOR NO KEY UPDATE;
      END IF;
      IF wallet_owners IS NOT NULL THEN
        PERFORM FROM wallets AS w WHERE w.svc_user_id = ANY (wallet_owners) ORDER BY w.svc_user_id FOR NO KEY UPDATE;
      END IF;

      RETURN QUERY SELECT s.request_id, s.state, s.effect, s.over_hold_micros
        FROM generate_series(1, turns) AS turn,
          LATERAL settle_turn(p_request_ids, p_outcomes, p_costs, seen, turn::int, p_currency) AS s
        ORDER BY s.place;
    END $$;
    -- It joins whole batches, which the setting of settle_many would make it do row by row.
    ALTER FUNCTION usage_days_follow() SET enable_hashjoin = on;
    DROP FUNCTION settle_one(text, text, bigint, text);
    DROP FUNCTION wallet_settle(text, text, text, bigint, bigint);
  `);
}
