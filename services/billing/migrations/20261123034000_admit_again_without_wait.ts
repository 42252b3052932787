import type { Knex } from 'knex';

/**
 * An admission that is asked for again has the wallet locked and meets its request's own row. A settlement that has changed that row
 * waits for the wallet: the admission must not wait for the settlement.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
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
        -- A conflict with a row that somebody changes waits for them; one that can be seen is not tried.
        INSERT INTO reservations (request_id, kind, svc_user_id, key_id, estimate_micros, month_start, created_at)
          SELECT p_request_id, 'api_key', p_svc_user_id, p_key_id, p_hold_micros, month, at
          WHERE NOT EXISTS (SELECT FROM reservations WHERE request_id = p_request_id)
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
  `);
}
