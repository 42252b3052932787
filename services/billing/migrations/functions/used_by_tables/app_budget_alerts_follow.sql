-- Raises alerts for an app's budget, in the transaction that changes its use. An uncertain request counts at its hold.
CREATE OR REPLACE FUNCTION app_budget_alerts_follow() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  -- A new window starts with its own use.
  IF NEW.window_start = OLD.window_start THEN
    PERFORM alert_on_use(NEW.svc_user_id, 'app_budget', NEW.client_id, NEW.window_start,
      OLD.used_micros + OLD.uncertain_micros, NEW.used_micros + NEW.uncertain_micros, NEW.limit_micros,
      (SELECT CASE NEW.period WHEN 'week' THEN a.week_end WHEN 'month' THEN a.month_end END
        FROM accounts AS a WHERE a.svc_user_id = NEW.svc_user_id));
  END IF;
  RETURN NULL;
END $$;
