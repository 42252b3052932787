-- Decides on delegated requests, each as if it came alone. An admitted request takes one of the account's two places until
-- it is settled. Asking again for a known request id answers the same and takes no second place.
-- Accounts are locked in the order of their ids.
CREATE OR REPLACE FUNCTION admit_delegated_requests(
  p_request_ids text[], p_svc_user_ids text[], p_client_ids text[], p_services text[], p_estimates bigint[],
  p_idempotency_keys text[], p_holder_ids text[], p_past_due_grace interval
) RETURNS TABLE (place bigint, verdict text, resets_at timestamptz, duplicate_of text, duplicate_state text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '1s' AS $$
DECLARE
  q record;
  at timestamptz;
  week timestamptz;
  month timestamptz;
BEGIN
  FOR q IN
    SELECT * FROM unnest(p_request_ids, p_svc_user_ids, p_client_ids, p_services, p_estimates, p_idempotency_keys,
        p_holder_ids)
      WITH ORDINALITY AS t (request_id, svc_user_id, client_id, service, estimate, idempotency_key, holder_id, place)
    ORDER BY t.svc_user_id, t.place
  LOOP
    FOR attempt IN 1..10 LOOP
      at := billing_now();
      -- Once it has the lock, PostgreSQL checks the conditions again on the row as it is then. A refusal takes no lock.
      SELECT a.week_start, a.month_start INTO week, month
        FROM accounts AS a JOIN plans AS p ON p.id = a.plan_id
        WHERE a.svc_user_id = q.svc_user_id AND status_admits(a.status, a.past_due_since, p_past_due_grace, at)
          AND CASE q.service WHEN 'chat' THEN p.includes_chat ELSE p.includes_audio_transcription END
          AND at < a.week_end AND a.week_used_micros < p.weekly_limit_micros
          AND at < a.month_end AND a.month_used_micros < p.monthly_limit_micros
          AND a.pending < 2
        FOR NO KEY UPDATE OF a;
      IF FOUND THEN
        INSERT INTO reservations (request_id, kind, svc_user_id, client_id, service, idempotency_key_hash,
            estimate_micros, holder_id, week_start, month_start, created_at)
          VALUES (q.request_id, 'delegated', q.svc_user_id, q.client_id, q.service,
            sha256(convert_to(q.idempotency_key, 'UTF8')), q.estimate, q.holder_id, week, month, at)
          ON CONFLICT DO NOTHING;
        IF FOUND THEN
          UPDATE accounts SET pending = pending + 1 WHERE svc_user_id = q.svc_user_id;
          verdict := 'admitted';
          EXIT;
        END IF;
      END IF;
      SELECT r.verdict, r.resets_at, r.duplicate_of, r.duplicate_state
        INTO verdict, resets_at, duplicate_of, duplicate_state
        FROM refuse_delegated(q.request_id, q.svc_user_id, q.client_id, q.service, q.idempotency_key,
          p_past_due_grace, at) AS r;
      EXIT WHEN verdict IS NOT NULL;
      PERFORM roll_account_windows(q.svc_user_id, at);
    END LOOP;
    IF verdict IS NULL THEN
      RAISE EXCEPTION 'the account changes too often to decide' USING ERRCODE = 'lock_not_available';
    END IF;
    place := q.place;
    RETURN NEXT;
    verdict := NULL;
    resets_at := NULL;
    duplicate_of := NULL;
    duplicate_state := NULL;
  END LOOP;
END $$;
