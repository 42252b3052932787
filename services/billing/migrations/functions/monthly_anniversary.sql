-- Returns the day of the anchor so many months later in UTC, clamped at month ends: 31 Jan, 28 Feb, 31 Mar.
CREATE OR REPLACE FUNCTION monthly_anniversary(p_anchor timestamptz, p_months int) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (p_anchor AT TIME ZONE 'UTC' + make_interval(months => p_months)) AT TIME ZONE 'UTC'
$$;
