import type { Knex } from 'knex';

/**
 * Admission of API-key requests by sets: those of one key are decided one after the other in memory, against its wallet and budget
 * as they were locked once, and written by a fixed number of statements. Row by row, each request left one more version of the
 * wallet's row for all later ones to walk over.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Requests of one key, decided in this order: rate, monthly limit of the key, wallet. What is refused altogether is refused
    -- without a lock; the wallet's row is locked before the key's, as settlement does.
    CREATE FUNCTION admit_for_key(
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
      held_ids text[];
      held_amounts bigint[];
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
            ON CONFLICT DO NOTHING RETURNING request_id, estimate_micros)
        SELECT count(*), coalesce(sum(n.estimate_micros), 0), array_agg(n.request_id) FILTER (WHERE n.estimate_micros > 0),
            array_agg(ARRAY[-n.estimate_micros, n.estimate_micros]) FILTER (WHERE n.estimate_micros > 0)
          INTO inserted, held, held_ids, held_amounts FROM new AS n;
        UPDATE wallets SET held_micros = held_micros + held WHERE svc_user_id = p_svc_user_id;
        UPDATE key_budgets SET minute_start = k.minute_start, minute_count = k.minute_count + inserted,
            month_start = k.month_start, month_used_micros = k.month_used_micros
          WHERE key_id = p_key_id;
        IF held_ids IS NOT NULL THEN
          PERFORM ledger_post_many(array_fill('hold'::text, ARRAY[cardinality(held_ids)]), held_ids,
            array_fill(p_svc_user_id, ARRAY[cardinality(held_ids)]), w.currency, ARRAY['wallet_available', 'wallet_held'],
            held_amounts);
        END IF;
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

    CREATE OR REPLACE FUNCTION admit_keyed_many(
      p_request_ids text[], p_svc_user_ids text[], p_key_ids text[], p_holds bigint[], p_per_minute int[], p_monthly_limits bigint[])
    RETURNS TABLE (place bigint, verdict text, resets_at timestamptz, rate_remaining int, rate_reset_ms int)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '1s' AS $$
    DECLARE asked record;
    BEGIN
      FOR asked IN
        SELECT t.svc_user_id, t.key_id, array_agg(t.place ORDER BY t.place) AS places,
          array_agg(t.request_id ORDER BY t.place) AS ids, array_agg(t.hold ORDER BY t.place) AS holds, array_agg(t.per_minute ORDER BY t.place) AS per_minute,
          array_agg(t.monthly_limit ORDER BY t.place) AS monthly_limits
        FROM unnest(p_request_ids, p_svc_user_ids, p_key_ids, p_holds, p_per_minute, p_monthly_limits)
          WITH ORDINALITY AS t (request_id, svc_user_id, key_id, hold, per_minute, monthly_limit, place)
        GROUP BY t.svc_user_id, t.key_id ORDER BY t.svc_user_id, t.key_id
      LOOP
        RETURN QUERY SELECT * FROM admit_for_key(asked.svc_user_id, asked.key_id, asked.places, asked.ids,
          asked.holds, asked.per_minute, asked.monthly_limits);
      END LOOP;
    END $$;

    -- One request, which waits for its rows as long as its caller does.
    CREATE OR REPLACE FUNCTION admit_keyed(
      p_request_id text, p_svc_user_id text, p_key_id text, p_hold_micros bigint, p_per_minute int, p_monthly_limit bigint,
      OUT verdict text, OUT resets_at timestamptz, OUT rate_remaining int, OUT rate_reset_ms int)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
    BEGIN
      SELECT a.verdict, a.resets_at, a.rate_remaining, a.rate_reset_ms INTO verdict, resets_at, rate_remaining, rate_reset_ms
        FROM admit_for_key(p_svc_user_id, p_key_id, ARRAY[1::bigint], ARRAY[p_request_id], ARRAY[p_hold_micros],
          ARRAY[p_per_minute], ARRAY[p_monthly_limit]) AS a;
    END $$;
    DROP FUNCTION wallet_hold(text, bigint, text);
  `);
}
