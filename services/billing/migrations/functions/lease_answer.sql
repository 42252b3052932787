-- Returns billing's answer about a lease, in the form of the contract.
CREATE OR REPLACE FUNCTION lease_answer(
  p_state text, l leases, k key_budgets, p_at timestamptz, p_limits jsonb, p_decisions jsonb) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'state', p_state,
    'granted_micros', coalesce(l.granted_micros, 0),
    'granted_in_minute', jsonb_build_object('id', coalesce(instant_id(l.minute_start), 0),
      'requests', coalesce(l.granted_requests, 0), 'tokens', coalesce(l.granted_tokens, 0)),
    'minute_ends_in_ms', coalesce(least(milliseconds_until(k.minute_start + interval '60 seconds', p_at), 60000), 0),
    'month_ends_in_ms', coalesce(milliseconds_until(monthly_anniversary(k.month_start, 1), p_at), 0),
    'requests_left', greatest((p_limits ->> 'requests_per_minute')::int - k.minute_count, 0),
    'tokens_left', greatest((p_limits ->> 'tokens_per_minute')::bigint - k.minute_tokens, 0),
    'decisions', p_decisions)
$$;
