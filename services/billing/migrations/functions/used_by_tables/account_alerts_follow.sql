-- Raises alerts for the weekly and the monthly cap, in the transaction that changes their use.
CREATE OR REPLACE FUNCTION account_alerts_follow() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  weekly bigint;
  monthly bigint;
BEGIN
  IF NEW.week_used_micros <= OLD.week_used_micros AND NEW.month_used_micros <= OLD.month_used_micros THEN RETURN NULL; END IF;
  SELECT p.weekly_limit_micros, p.monthly_limit_micros INTO weekly, monthly FROM plans AS p WHERE p.id = NEW.plan_id;
  PERFORM alert_on_use(NEW.svc_user_id, 'weekly_cap', '', NEW.week_start, OLD.week_used_micros, NEW.week_used_micros, weekly,
    NEW.week_end);
  PERFORM alert_on_use(NEW.svc_user_id, 'monthly_cap', '', NEW.month_start, OLD.month_used_micros, NEW.month_used_micros,
    monthly, NEW.month_end);
  RETURN NULL;
END $$;
