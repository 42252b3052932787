-- Returns the month that contains the given time, from anniversary to anniversary: either the anniversary in the time's calendar
-- month is past, or the window began a month earlier.
CREATE OR REPLACE FUNCTION anniversary_window(p_anchor timestamptz, p_at timestamptz, OUT starts_at timestamptz, OUT ends_at timestamptz)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  anchor timestamp := p_anchor AT TIME ZONE 'UTC';
  at timestamp := p_at AT TIME ZONE 'UTC';
  months int := (extract(year FROM at) - extract(year FROM anchor)) * 12 + extract(month FROM at) - extract(month FROM anchor);
BEGIN
  IF monthly_anniversary(p_anchor, months) > p_at THEN months := months - 1; END IF;
  starts_at := monthly_anniversary(p_anchor, months);
  ends_at := monthly_anniversary(p_anchor, months + 1);
END $$;
