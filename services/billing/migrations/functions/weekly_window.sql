-- Returns the window that contains the given time: consecutive 7 x 24 hours from the anchor, half-open, regardless of months
-- and leap years.
CREATE OR REPLACE FUNCTION weekly_window(p_anchor timestamptz, p_at timestamptz, OUT starts_at timestamptz, OUT ends_at timestamptz)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT p_anchor + weeks.n * interval '168 hours', p_anchor + (weeks.n + 1) * interval '168 hours'
  FROM (SELECT floor(extract(epoch FROM p_at - p_anchor) / 604800)::float8 AS n) AS weeks
$$;
