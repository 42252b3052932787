-- Returns the time. Nothing else in billing reads the clock. Not now(): a caller that has waited for a lock needs the time after it.
CREATE OR REPLACE FUNCTION billing_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;
