import type { Knex } from 'knex';

/**
 * Admission of an API-key request, in the order rate, monthly limit of the key, wallet. As for delegated requests, what is
 * refused is refused without a lock. The wallet's row is locked before the key's, as settlement does.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION recall_keyed(p_request_id text, p_svc_user_id text, p_key_id text) RETURNS text
    LANGUAGE sql STABLE AS $$
      SELECT CASE WHEN svc_user_id = p_svc_user_id AND key_id = p_key_id THEN 'admitted' ELSE 'request_id_taken' END
      FROM reservations WHERE request_id = p_request_id
    $$;

    CREATE FUNCTION admit_keyed(
      p_request_id text, p_svc_user_id text, p_key_id text, p_hold_micros bigint, p_per_minute int, p_monthly_limit bigint,
      OUT verdict text, OUT resets_at timestamptz, OUT rate_remaining int, OUT rate_reset_ms int)
    LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE
      w wallets%ROWTYPE;
      k key_budgets%ROWTYPE;
      at timestamptz;
      month timestamptz;
    BEGIN
      FOR look IN 1..2 LOOP
        IF look = 1 THEN
          SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id;
          SELECT * INTO k FROM key_budgets WHERE key_id = p_key_id;
        ELSE
          SELECT * INTO w FROM wallets WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE;
          INSERT INTO key_budgets (key_id, svc_user_id, minute_start, month_start)
            VALUES (p_key_id, p_svc_user_id, at, month) ON CONFLICT (key_id) DO NOTHING;
          SELECT * INTO k FROM key_budgets WHERE key_id = p_key_id FOR NO KEY UPDATE;
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
        verdict := CASE
          WHEN k.minute_count >= p_per_minute THEN 'rate_limit_exceeded'
          WHEN k.month_used_micros >= p_monthly_limit THEN 'key_monthly_limit_exceeded'
          WHEN w.svc_user_id IS NULL OR w.balance_micros - w.held_micros < p_hold_micros THEN 'insufficient_balance'
        END;
        rate_remaining := greatest(p_per_minute - k.minute_count, 0);
        rate_reset_ms := least(60000, ceil(extract(epoch FROM k.minute_start + interval '60 seconds' - at) * 1000));
        IF verdict IS NOT NULL THEN
          resets_at := CASE verdict WHEN 'key_monthly_limit_exceeded' THEN monthly_anniversary(k.month_start, 1)
            WHEN 'rate_limit_exceeded' THEN k.minute_start + interval '60 seconds' END;
          IF recall_keyed(p_request_id, p_svc_user_id, p_key_id) IS NOT NULL THEN
            verdict := recall_keyed(p_request_id, p_svc_user_id, p_key_id);
            resets_at := NULL;
          END IF;
          RETURN;
        END IF;
      END LOOP;

      INSERT INTO reservations (request_id, kind, svc_user_id, key_id, estimate_micros, month_start, created_at)
        VALUES (p_request_id, 'api_key', p_svc_user_id, p_key_id, p_hold_micros, k.month_start, at)
        ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        verdict := recall_keyed(p_request_id, p_svc_user_id, p_key_id);
        RETURN;
      END IF;
      PERFORM wallet_hold(p_svc_user_id, p_hold_micros, p_request_id);
      UPDATE key_budgets SET minute_start = k.minute_start, minute_count = k.minute_count + 1,
          month_start = k.month_start, month_used_micros = k.month_used_micros
        WHERE key_id = p_key_id;
      rate_remaining := greatest(p_per_minute - k.minute_count - 1, 0);
      verdict := 'admitted';
    END $$;
  `);
}
