-- Returns the reason why a delegated request gets no place, without a lock. Does not refuse a request that was admitted
-- before. A repeated idempotency key returns its first request. The caps are no reason if the wallet can pay
-- (`p_pays_extra`). NULL leaves only the app's limit as a reason. If that
-- is not one either, the account has changed or a window has ended, and the caller retries.
CREATE OR REPLACE FUNCTION refuse_delegated(
  p_request_id text, p_svc_user_id text, p_client_id text, p_service text, p_idempotency_key text,
  p_past_due_grace interval, p_at timestamptz, p_pays_extra boolean,
  OUT verdict text, OUT resets_at timestamptz, OUT duplicate_of text, OUT duplicate_state text
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  a accounts%ROWTYPE;
  plan plans%ROWTYPE;
BEGIN
  SELECT k.verdict, k.duplicate_of, k.duplicate_state INTO verdict, duplicate_of, duplicate_state
    FROM recall_delegated(p_request_id, p_svc_user_id, p_client_id, sha256(convert_to(p_idempotency_key, 'UTF8'))) AS k;
  IF verdict IS NOT NULL THEN RETURN; END IF;
  SELECT * INTO a FROM accounts WHERE svc_user_id = p_svc_user_id;
  SELECT * INTO plan FROM plans WHERE id = a.plan_id;
  a := with_current_windows(a, p_at);
  verdict := CASE
    WHEN plan.id IS NULL OR NOT status_admits(a.status, a.past_due_since, p_past_due_grace, p_at)
      THEN 'subscription_inactive'
    WHEN NOT CASE p_service WHEN 'chat' THEN plan.includes_chat ELSE plan.includes_audio_transcription END
      THEN 'subscription_service_not_included'
    WHEN a.has_app_budgets AND EXISTS (SELECT FROM app_budgets AS b
        WHERE b.svc_user_id = p_svc_user_id AND b.client_id = p_client_id AND b.is_paused)
      THEN 'connection_paused'
    WHEN NOT p_pays_extra AND a.week_used_micros >= plan.weekly_limit_micros THEN 'weekly_limit_exceeded'
    WHEN NOT p_pays_extra AND a.month_used_micros >= plan.monthly_limit_micros THEN 'monthly_limit_exceeded'
    WHEN a.pending >= 2 THEN 'subscription_requests_pending'
  END;
  resets_at := CASE verdict WHEN 'weekly_limit_exceeded' THEN a.week_end
    WHEN 'monthly_limit_exceeded' THEN a.month_end END;
END $$;
