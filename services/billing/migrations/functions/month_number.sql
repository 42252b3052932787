-- Returns the calendar month (UTC) that contains an instant, in months since the year 0.
CREATE OR REPLACE FUNCTION month_number(p_at timestamptz) RETURNS smallint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (extract(year FROM p_at AT TIME ZONE 'UTC') * 12 + extract(month FROM p_at AT TIME ZONE 'UTC') - 1)::smallint
$$;
