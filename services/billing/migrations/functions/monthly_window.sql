-- Returns the paid month while it lasts. Otherwise (another interval, or a late renewal notice) the window between anniversaries.
CREATE OR REPLACE FUNCTION monthly_window(
  p_anchor timestamptz, p_interval text, p_period_start timestamptz, p_period_end timestamptz, p_at timestamptz,
  OUT starts_at timestamptz, OUT ends_at timestamptz)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF p_interval = 'month' AND p_at >= p_period_start AND p_at < p_period_end THEN
    starts_at := p_period_start;
    ends_at := p_period_end;
  ELSE
    SELECT w.starts_at, w.ends_at INTO starts_at, ends_at FROM anniversary_window(p_anchor, p_at) AS w;
  END IF;
END $$;
