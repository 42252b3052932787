-- Returns true if the row keeps the rules of a reservation. One function, because PostgreSQL reads the text of each check anew
-- for every statement, and compiles a function once for each connection.
CREATE OR REPLACE FUNCTION reservation_is_sound(
  kind text, client_id text, service text, week_start timestamptz, state text, estimate_micros bigint, cost_micros bigint,
  settled_by text, ended_at timestamptz)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN kind IN ('delegated', 'given_up')
    AND (client_id IS NOT NULL) = (kind = 'delegated')
    AND (service IS NOT NULL) = (kind = 'delegated')
    AND (week_start IS NOT NULL) = (kind = 'delegated')
    AND state IN ('reserved', 'uncertain', 'settled', 'released')
    AND (state IN ('settled', 'released')) = (ended_at IS NOT NULL)
    AND (state = 'settled') = (cost_micros IS NOT NULL)
    AND (state = 'settled') = (settled_by IS NOT NULL)
    AND coalesce(settled_by IN ('usage', 'estimate'), true)
    AND coalesce(cost_micros >= 0, true)
    AND estimate_micros >= 0;
END $$;
