-- Returns true if a subscription in this state lets requests through: past_due only during the grace.
CREATE OR REPLACE FUNCTION status_admits(p_status text, p_past_due_since timestamptz, p_grace interval, p_at timestamptz)
RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT p_status IN ('active', 'trialing') OR (p_status = 'past_due' AND p_at < p_past_due_since + p_grace)
$$;
