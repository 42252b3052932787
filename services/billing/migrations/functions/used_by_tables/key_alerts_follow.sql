-- Raises alerts for the monthly limit of an API key, in the transaction that changes its use.
CREATE OR REPLACE FUNCTION key_alerts_follow() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.month_used_micros > OLD.month_used_micros AND NEW.month_limit_micros IS NOT NULL THEN
    PERFORM alert_on_use(NEW.svc_user_id, 'api_key', NEW.key_id, NEW.month_start, OLD.month_used_micros,
      NEW.month_used_micros, NEW.month_limit_micros, monthly_anniversary(NEW.month_start, 1));
  END IF;
  RETURN NULL;
END $$;
