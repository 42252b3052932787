-- Returns the reason why a budget does not cover a request; NULL if it does, or without a limit. Uncertain requests
-- count at their whole hold, because their cost may still arrive. Only the holds of running requests are released soon.
CREATE OR REPLACE FUNCTION app_budget_verdict(b app_budgets, p_hold bigint, p_at timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN p_at >= b.expires_at THEN 'app_budget_expired'
    WHEN b.used_micros + b.uncertain_micros + p_hold > b.limit_micros THEN 'app_limit_exceeded'
    WHEN b.used_micros + b.uncertain_micros + b.held_micros + p_hold > b.limit_micros THEN 'app_requests_pending'
  END
$$;
