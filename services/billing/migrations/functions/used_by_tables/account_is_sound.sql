-- Returns true if the row keeps the rules of an account. One function, because PostgreSQL reads the text of each check anew for
-- every statement, and compiles a function once for each connection.
CREATE OR REPLACE FUNCTION account_is_sound(
  anchor timestamptz, "interval" text, period_start timestamptz, period_end timestamptz, week_used_micros bigint,
  month_used_micros bigint, pending int)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN date_trunc('milliseconds', anchor) = anchor
    AND "interval" IN ('month', 'year')
    AND period_end > period_start
    AND week_used_micros >= 0
    AND month_used_micros >= 0
    AND pending BETWEEN 0 AND 2;
END $$;
