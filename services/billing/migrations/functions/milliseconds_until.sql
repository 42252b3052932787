-- Returns the milliseconds from one instant to a later one, rounded down; 0 if that has passed.
CREATE OR REPLACE FUNCTION milliseconds_until(p_until timestamptz, p_at timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(floor(extract(epoch FROM p_until - p_at) * 1000), 0)::bigint
$$;
