-- Entry points for replicas of the previous release during a rollout. The next release drops them.
CREATE OR REPLACE FUNCTION admit_delegated(
  p_request_id text, p_svc_user_id text, p_client_id text, p_service text, p_estimate_micros bigint,
  p_idempotency_key text, p_past_due_grace interval,
  OUT verdict text, OUT resets_at timestamptz, OUT duplicate_of text, OUT duplicate_state text
) LANGUAGE sql AS $$
  SELECT a.verdict, a.resets_at, a.duplicate_of, a.duplicate_state
    FROM admit_delegated_requests(ARRAY[p_request_id], ARRAY[p_svc_user_id], ARRAY[p_client_id], ARRAY[p_service],
      ARRAY[p_estimate_micros], ARRAY[p_idempotency_key], NULL, NULL, NULL, p_past_due_grace) AS a
$$;

CREATE OR REPLACE FUNCTION admit_one_delegated(
  p_request_id text, p_svc_user_id text, p_client_id text, p_service text, p_estimate_micros bigint,
  p_idempotency_key text, p_past_due_grace interval,
  OUT verdict text, OUT resets_at timestamptz, OUT duplicate_of text, OUT duplicate_state text
) LANGUAGE sql AS $$
  SELECT * FROM admit_delegated(p_request_id, p_svc_user_id, p_client_id, p_service, p_estimate_micros,
    p_idempotency_key, p_past_due_grace)
$$;

CREATE OR REPLACE FUNCTION admit_delegated_many(
  p_request_ids text[], p_svc_user_ids text[], p_client_ids text[], p_services text[], p_estimates bigint[],
  p_idempotency_keys text[], p_past_due_grace interval
) RETURNS TABLE (place bigint, verdict text, resets_at timestamptz, duplicate_of text, duplicate_state text)
LANGUAGE sql AS $$
  SELECT a.place, a.verdict, a.resets_at, a.duplicate_of, a.duplicate_state
    FROM admit_delegated_requests(p_request_ids, p_svc_user_ids, p_client_ids, p_services, p_estimates, p_idempotency_keys,
      NULL, NULL, NULL, p_past_due_grace) AS a
$$;

CREATE OR REPLACE FUNCTION admit_keyed(
  p_request_id text, p_svc_user_id text, p_key_id text, p_hold_micros bigint, p_per_minute int, p_monthly_limit bigint,
  OUT verdict text, OUT resets_at timestamptz, OUT rate_remaining int, OUT rate_reset_ms int
) LANGUAGE sql AS $$
  SELECT a.verdict, a.resets_at, a.rate_remaining, a.rate_reset_ms
    FROM admit_key_requests(ARRAY[p_request_id], ARRAY[p_svc_user_id], ARRAY[p_key_id], ARRAY[p_hold_micros],
      ARRAY[p_per_minute], ARRAY[p_monthly_limit], NULL, NULL, NULL, NULL, NULL, NULL) AS a
$$;

CREATE OR REPLACE FUNCTION admit_one_keyed(
  p_request_id text, p_svc_user_id text, p_key_id text, p_hold_micros bigint, p_per_minute int, p_monthly_limit bigint,
  OUT verdict text, OUT resets_at timestamptz, OUT rate_remaining int, OUT rate_reset_ms int
) LANGUAGE sql AS $$
  SELECT * FROM admit_keyed(p_request_id, p_svc_user_id, p_key_id, p_hold_micros, p_per_minute, p_monthly_limit)
$$;

CREATE OR REPLACE FUNCTION admit_keyed_many(
  p_request_ids text[], p_svc_user_ids text[], p_key_ids text[], p_holds bigint[], p_per_minute int[],
  p_monthly_limits bigint[]
) RETURNS TABLE (place bigint, verdict text, resets_at timestamptz, rate_remaining int, rate_reset_ms int)
LANGUAGE sql AS $$
  SELECT a.place, a.verdict, a.resets_at, a.rate_remaining, a.rate_reset_ms
    FROM admit_key_requests(p_request_ids, p_svc_user_ids, p_key_ids, p_holds, p_per_minute, p_monthly_limits,
      NULL, NULL, NULL, NULL, NULL, NULL) AS a
$$;

CREATE OR REPLACE FUNCTION settle_many(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
RETURNS TABLE (request_id text, state text, effect text, over_hold_micros bigint)
LANGUAGE sql AS $$
  SELECT s.request_id, s.state, s.effect, s.over_hold_micros
    FROM settle_requests(p_request_ids, p_outcomes, p_costs, p_currency, NULL) AS s ORDER BY s.place
$$;

CREATE OR REPLACE FUNCTION settle_together(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
RETURNS TABLE (request_id text, state text, effect text, over_hold_micros bigint)
LANGUAGE sql AS $$
  SELECT * FROM settle_many(p_request_ids, p_outcomes, p_costs, p_currency)
$$;

CREATE OR REPLACE FUNCTION settle_one(
  p_request_id text, p_outcome text, p_cost bigint, p_currency text,
  OUT request_id text, OUT state text, OUT effect text, OUT over_hold_micros bigint
) LANGUAGE sql AS $$
  SELECT * FROM settle_many(ARRAY[p_request_id], ARRAY[p_outcome], ARRAY[p_cost], p_currency)
$$;
