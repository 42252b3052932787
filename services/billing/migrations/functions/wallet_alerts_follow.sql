-- Raises an alert when a wallet's balance falls below the amount in its owner's settings, once per top-up.
CREATE OR REPLACE FUNCTION wallet_alerts_follow() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE least_micros bigint;
BEGIN
  IF NEW.balance_micros >= OLD.balance_micros THEN RETURN NULL; END IF;
  least_micros := (alert_settings_of(NEW.svc_user_id)).wallet_below_micros;
  IF OLD.balance_micros >= least_micros AND NEW.balance_micros < least_micros THEN
    PERFORM publish_alert(NEW.svc_user_id, 'wallet', '', NEW.revision, NULL, NEW.balance_micros, least_micros, NULL);
  END IF;
  RETURN NULL;
END $$;
