import type { Knex } from 'knex';

/**
 * Admissions that arrive together, decided in one round trip and made durable by one commit; each is decided as if it had come
 * alone. Owners are locked in one order, so that groups never wait in a circle.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION admit_delegated_many(
      p_request_ids text[], p_svc_user_ids text[], p_client_ids text[], p_services text[], p_estimates bigint[],
      p_idempotency_keys text[], p_past_due_grace interval)
    RETURNS TABLE (place bigint, verdict text, resets_at timestamptz, duplicate_of text, duplicate_state text)
    LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE asked record;
    BEGIN
      FOR asked IN
        SELECT * FROM unnest(p_request_ids, p_svc_user_ids, p_client_ids, p_services, p_estimates, p_idempotency_keys)
          WITH ORDINALITY AS t (request_id, svc_user_id, client_id, service, estimate, idempotency_key, place)
        ORDER BY t.svc_user_id, t.place
      LOOP
        place := asked.place;
        SELECT a.verdict, a.resets_at, a.duplicate_of, a.duplicate_state INTO verdict, resets_at, duplicate_of, duplicate_state
          FROM admit_delegated(asked.request_id, asked.svc_user_id, asked.client_id, asked.service, asked.estimate,
            asked.idempotency_key, p_past_due_grace) AS a;
        RETURN NEXT;
      END LOOP;
    END $$;

    CREATE FUNCTION admit_keyed_many(
      p_request_ids text[], p_svc_user_ids text[], p_key_ids text[], p_holds bigint[], p_per_minute int[], p_monthly_limits bigint[])
    RETURNS TABLE (place bigint, verdict text, resets_at timestamptz, rate_remaining int, rate_reset_ms int)
    LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE asked record;
    BEGIN
      FOR asked IN
        SELECT * FROM unnest(p_request_ids, p_svc_user_ids, p_key_ids, p_holds, p_per_minute, p_monthly_limits)
          WITH ORDINALITY AS t (request_id, svc_user_id, key_id, hold, per_minute, monthly_limit, place)
        ORDER BY t.svc_user_id, t.place
      LOOP
        place := asked.place;
        SELECT a.verdict, a.resets_at, a.rate_remaining, a.rate_reset_ms INTO verdict, resets_at, rate_remaining, rate_reset_ms
          FROM admit_keyed(asked.request_id, asked.svc_user_id, asked.key_id, asked.hold, asked.per_minute, asked.monthly_limit) AS a;
        RETURN NEXT;
      END LOOP;
    END $$;
  `);
}
