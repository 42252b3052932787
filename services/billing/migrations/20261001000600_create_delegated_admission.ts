import type { Knex } from 'knex';

/**
 * Admission of a delegated request: one call, one decision, in the order status, service, weekly cap, monthly cap, pending.
 * The first look takes no lock, so that a refusal writes nothing and queues behind nobody; what it lets through is looked
 * at again under the lock of the account's row. Each statement of a volatile function has its own snapshot.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whether a subscription in this state lets requests through: past_due only for as long as the grace lasts.
    CREATE FUNCTION status_admits(p_status text, p_past_due_since timestamptz, p_grace interval, p_at timestamptz)
    RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT p_status IN ('active', 'trialing') OR (p_status = 'past_due' AND p_at < p_past_due_since + p_grace)
    $$;

    -- What an earlier request already decides about this one: it is the same request, or it has the same idempotency key.
    CREATE FUNCTION recall_delegated(
      p_request_id text, p_svc_user_id text, p_client_id text, p_key_hash bytea,
      OUT verdict text, OUT duplicate_of text, OUT duplicate_state text)
    LANGUAGE plpgsql STABLE AS $$
    DECLARE r reservations%ROWTYPE;
    BEGIN
      SELECT * INTO r FROM reservations WHERE request_id = p_request_id;
      IF FOUND THEN
        verdict := CASE WHEN r.svc_user_id = p_svc_user_id AND r.client_id = p_client_id THEN 'admitted'
          ELSE 'request_id_taken' END;
      ELSIF p_key_hash IS NOT NULL THEN
        SELECT * INTO r FROM reservations
          WHERE svc_user_id = p_svc_user_id AND client_id = p_client_id AND idempotency_key_hash = p_key_hash;
        IF FOUND THEN
          verdict := 'duplicate_request';
          duplicate_of := r.request_id;
          duplicate_state := r.state;
        END IF;
      END IF;
    END $$;

    CREATE FUNCTION admit_delegated(
      p_request_id text, p_svc_user_id text, p_client_id text, p_service text, p_estimate_micros bigint,
      p_idempotency_key text, p_past_due_grace interval,
      OUT verdict text, OUT resets_at timestamptz, OUT duplicate_of text, OUT duplicate_state text)
    LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE
      a accounts%ROWTYPE;
      plan plans%ROWTYPE;
      at timestamptz;
      key_hash bytea := sha256(convert_to(p_idempotency_key, 'UTF8'));
    BEGIN
      IF key_hash IS NOT NULL THEN
        SELECT * INTO verdict, duplicate_of, duplicate_state
          FROM recall_delegated(p_request_id, p_svc_user_id, p_client_id, key_hash);
        IF verdict IS NOT NULL THEN RETURN; END IF;
      END IF;

      FOR look IN 1..2 LOOP
        IF look = 1 THEN SELECT * INTO a FROM accounts WHERE svc_user_id = p_svc_user_id;
        ELSE SELECT * INTO a FROM accounts WHERE svc_user_id = p_svc_user_id FOR NO KEY UPDATE; END IF;
        SELECT * INTO plan FROM plans WHERE id = a.plan_id;
        at := billing_now();
        -- Windows only move forward: a clock that steps back leaves the later window in force.
        IF at >= a.week_end THEN
          SELECT w.starts_at, w.ends_at, 0 INTO a.week_start, a.week_end, a.week_used_micros
            FROM weekly_window(a.anchor, at) AS w;
        END IF;
        IF at >= a.month_end THEN
          SELECT w.starts_at, w.ends_at, 0 INTO a.month_start, a.month_end, a.month_used_micros
            FROM monthly_window(a.anchor, a.interval, a.period_start, a.period_end, at) AS w;
        END IF;
        verdict := CASE
          WHEN a.svc_user_id IS NULL OR plan.id IS NULL OR NOT status_admits(a.status, a.past_due_since, p_past_due_grace, at)
            THEN 'subscription_inactive'
          WHEN NOT CASE p_service WHEN 'chat' THEN plan.includes_chat ELSE plan.includes_audio_transcription END
            THEN 'subscription_service_not_included'
          WHEN a.week_used_micros >= plan.weekly_limit_micros THEN 'weekly_limit_exceeded'
          WHEN a.month_used_micros >= plan.monthly_limit_micros THEN 'monthly_limit_exceeded'
          WHEN a.pending >= 2 THEN 'subscription_requests_pending'
        END;
        IF verdict IS NOT NULL THEN
          resets_at := CASE verdict WHEN 'weekly_limit_exceeded' THEN a.week_end
            WHEN 'monthly_limit_exceeded' THEN a.month_end END;
          -- A request that was admitted earlier is not refused now.
          SELECT coalesce(k.verdict, admit_delegated.verdict), CASE WHEN k.verdict IS NULL THEN admit_delegated.resets_at END,
              k.duplicate_of, k.duplicate_state
            INTO verdict, resets_at, duplicate_of, duplicate_state
            FROM recall_delegated(p_request_id, p_svc_user_id, p_client_id, key_hash) AS k;
          RETURN;
        END IF;
      END LOOP;

      INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, idempotency_key_hash, estimate_micros,
          week_start, month_start, created_at)
        VALUES (p_request_id, 'delegated', p_svc_user_id, p_client_id, p_service, key_hash, p_estimate_micros,
          a.week_start, a.month_start, at)
        ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN
        SELECT * INTO verdict, duplicate_of, duplicate_state
          FROM recall_delegated(p_request_id, p_svc_user_id, p_client_id, key_hash);
        RETURN;
      END IF;
      UPDATE accounts SET pending = a.pending + 1,
          week_start = a.week_start, week_end = a.week_end, week_used_micros = a.week_used_micros,
          month_start = a.month_start, month_end = a.month_end, month_used_micros = a.month_used_micros
        WHERE svc_user_id = p_svc_user_id;
      verdict := 'admitted';
    END $$;
  `);
}
