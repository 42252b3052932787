-- Returns the alert settings of an account; the defaults if it has none.
CREATE OR REPLACE FUNCTION alert_settings_of(p_svc_user_id text) RETURNS alert_settings
LANGUAGE plpgsql STABLE AS $$
DECLARE settings alert_settings%ROWTYPE;
BEGIN
  SELECT * INTO settings FROM alert_settings AS s WHERE s.svc_user_id = p_svc_user_id;
  IF NOT FOUND THEN settings := (p_svc_user_id, ARRAY[50, 80, 100], 2000000); END IF;
  RETURN settings;
END $$;
