-- Returns the key's budget with the minute and calendar month (UTC) that contain the given time. A key without a budget
-- (all NULL) gets an empty one.
CREATE OR REPLACE FUNCTION with_current_key_windows(k key_budgets, p_at timestamptz) RETURNS key_budgets
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE month timestamptz := date_trunc('month', p_at, 'UTC');
BEGIN
  IF k.key_id IS NULL OR p_at >= k.minute_start + interval '60 seconds' THEN
    k.minute_start := p_at;
    k.minute_count := 0;
    k.minute_tokens := 0;
  END IF;
  -- Months only move forward, as windows do.
  IF k.key_id IS NULL OR month > k.month_start THEN
    k.month_start := month;
    k.month_used_micros := 0;
  END IF;
  RETURN k;
END $$;
