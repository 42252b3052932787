-- Raises alerts for the ceiling of extra use, in the transaction that changes its use.
CREATE OR REPLACE FUNCTION extra_alerts_follow() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  -- A new month starts with its own use.
  IF NEW.month_start = OLD.month_start AND NEW.used_micros > OLD.used_micros THEN
    PERFORM alert_on_use(NEW.svc_user_id, 'extra_use', '', NEW.month_start, OLD.used_micros, NEW.used_micros,
      NEW.monthly_max_micros, monthly_anniversary(NEW.month_start, 1));
  END IF;
  RETURN NULL;
END $$;
