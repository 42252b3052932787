import type { Knex } from 'knex';

/** As admit_one_keyed, for the delegated request that comes alone: the statement that looks also locks, and two write. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The account is locked only where it admits, as it is seen and again as it is once locked: a refusal locks nothing. Whatever is not
    -- plain (a refusal, a repetition, a new week or month) is decided by admit_delegated.
    CREATE FUNCTION admit_one_delegated(
      p_request_id text, p_svc_user_id text, p_client_id text, p_service text, p_estimate_micros bigint, p_idempotency_key text,
      p_past_due_grace interval, OUT verdict text, OUT resets_at timestamptz, OUT duplicate_of text, OUT duplicate_state text)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '1s' AS $$
    DECLARE
      at timestamptz := billing_now();
      week timestamptz;
      month timestamptz;
    BEGIN
      SELECT a.week_start, a.month_start INTO week, month
        FROM accounts AS a JOIN plans AS p ON p.id = a.plan_id
        WHERE a.svc_user_id = p_svc_user_id AND status_admits(a.status, a.past_due_since, p_past_due_grace, at)
          AND CASE p_service WHEN 'chat' THEN p.includes_chat ELSE p.includes_audio_transcription END
          AND at < a.week_end AND a.week_used_micros < p.weekly_limit_micros
          AND at < a.month_end AND a.month_used_micros < p.monthly_limit_micros
          AND a.pending < 2
        FOR NO KEY UPDATE OF a;
      IF FOUND THEN
        INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, idempotency_key_hash, estimate_micros,
            week_start, month_start, created_at)
          VALUES (p_request_id, 'delegated', p_svc_user_id, p_client_id, p_service,
            sha256(convert_to(p_idempotency_key, 'UTF8')), p_estimate_micros, week, month, at)
          ON CONFLICT DO NOTHING;
      END IF;
      IF NOT FOUND THEN
        SELECT a.verdict, a.resets_at, a.duplicate_of, a.duplicate_state INTO verdict, resets_at, duplicate_of, duplicate_state
          FROM admit_delegated(p_request_id, p_svc_user_id, p_client_id, p_service, p_estimate_micros, p_idempotency_key,
            p_past_due_grace) AS a;
        RETURN;
      END IF;
      UPDATE accounts SET pending = pending + 1 WHERE svc_user_id = p_svc_user_id;
      verdict := 'admitted';
    END $$;
  `);
}
