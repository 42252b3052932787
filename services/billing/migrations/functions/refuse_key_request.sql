-- Returns the reason why an API-key request does not get an amount of the wallet, NULL if there is none. `p_available` is what is
-- left of the wallet (below zero without one), `p_month_left` of the key's monthly limit and `p_member_left` of that of its member
-- (NULL without one).
CREATE OR REPLACE FUNCTION refuse_key_request(
  k key_budgets, p_limits jsonb, p_need jsonb, p_micros bigint, p_available bigint, p_month_left bigint, p_member_left bigint)
RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN k.minute_count >= (p_limits ->> 'requests_per_minute')::int
      OR (p_limits ->> 'tokens_per_minute')::bigint - k.minute_tokens < (p_need ->> 'tokens_least')::bigint
      THEN 'rate_limit_exceeded'
    WHEN p_micros > p_month_left THEN 'key_monthly_limit_exceeded'
    WHEN p_micros > p_member_left THEN 'member_monthly_limit_exceeded'
    WHEN p_micros > p_available THEN 'insufficient_balance'
  END
$$;
