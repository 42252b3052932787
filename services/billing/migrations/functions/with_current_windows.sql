-- Returns the account with the windows that contain the given time. Use of a window that has ended is 0.
-- Windows only move forward: if the clock steps back, the later window stays current.
CREATE OR REPLACE FUNCTION with_current_windows(a accounts, p_at timestamptz) RETURNS accounts
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF p_at >= a.week_end THEN
    SELECT w.starts_at, w.ends_at, 0 INTO a.week_start, a.week_end, a.week_used_micros
      FROM weekly_window(a.anchor, p_at) AS w;
  END IF;
  IF p_at >= a.month_end THEN
    -- A paid month may end between anniversaries. Starts name windows, so none begins before the last one has ended.
    SELECT greatest(w.starts_at, a.month_end), w.ends_at, 0 INTO a.month_start, a.month_end, a.month_used_micros
      FROM monthly_window(a.anchor, a.interval, a.period_start, a.period_end, p_at) AS w;
  END IF;
  RETURN a;
END $$;
