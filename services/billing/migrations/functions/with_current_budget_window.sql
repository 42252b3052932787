-- Returns the budget with the counters of the current window, which are 0 if the window has just started. The caller
-- passes the account's current windows.
CREATE OR REPLACE FUNCTION with_current_budget_window(b app_budgets, p_week_start timestamptz, p_month_start timestamptz)
RETURNS app_budgets
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  starts_at timestamptz := CASE b.period WHEN 'week' THEN p_week_start WHEN 'month' THEN p_month_start
    ELSE b.limited_since END;
BEGIN
  IF b.window_start <> starts_at THEN
    b.window_start := starts_at;
    b.used_micros := 0;
    b.held_micros := 0;
    b.uncertain_micros := 0;
  END IF;
  RETURN b;
END $$;
