-- Returns extra use with the counters of the calendar month (UTC) that contains the given time. Months only move forward, as
-- windows do.
CREATE OR REPLACE FUNCTION with_current_extra_month(e extra_usage, p_at timestamptz) RETURNS extra_usage
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE month timestamptz := date_trunc('month', p_at, 'UTC');
BEGIN
  IF month > e.month_start THEN
    e.month_start := month;
    e.used_micros := 0;
    e.held_micros := 0;
  END IF;
  RETURN e;
END $$;
