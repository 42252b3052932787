-- Raises an alert when a wallet's balance falls below the amount in its owner's settings, once until it was above again. Holds
-- of running requests do not count: they come and go many times a second.
CREATE OR REPLACE FUNCTION wallet_alerts_follow() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE least_micros bigint;
BEGIN
  IF NEW.balance_micros = OLD.balance_micros THEN RETURN NULL; END IF;
  least_micros := (alert_settings_of(NEW.svc_user_id)).wallet_below_micros;
  IF NEW.balance_micros > OLD.balance_micros THEN
    IF NEW.balance_micros >= coalesce(least_micros, 0) THEN
      DELETE FROM raised_alerts AS r WHERE r.svc_user_id = NEW.svc_user_id AND r.subject = 'wallet';
    END IF;
  ELSIF NEW.balance_micros < least_micros AND NOT EXISTS (
    SELECT FROM raised_alerts AS r WHERE r.svc_user_id = NEW.svc_user_id AND r.subject = 'wallet') THEN
    PERFORM publish_alert(NEW.svc_user_id, 'wallet', '', (extract(epoch FROM billing_now()) * 1000000)::bigint, NULL,
      NEW.balance_micros, least_micros, NULL);
  END IF;
  RETURN NULL;
END $$;
