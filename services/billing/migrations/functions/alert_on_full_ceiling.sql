-- Raises the alert for 100 percent of the ceiling of extra use, although holds keep the use below it: what is left does not pay
-- for the smallest output. Skips a locked wallet, because a later refusal raises it.
CREATE OR REPLACE FUNCTION alert_on_full_ceiling(p_svc_user_id text, x extra_standing) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF NOT 100 = ANY ((alert_settings_of(p_svc_user_id)).thresholds_percent) OR EXISTS (
      SELECT FROM raised_alerts AS r WHERE r.svc_user_id = p_svc_user_id AND r.subject = 'extra_use' AND r.subject_id = ''
        AND (r.window_id, r.percent) >= (instant_id(x.month_start), 100)) THEN
    RETURN;
  END IF;
  PERFORM FROM wallets AS w WHERE w.svc_user_id = p_svc_user_id FOR NO KEY UPDATE SKIP LOCKED;
  IF FOUND THEN
    PERFORM publish_alert(p_svc_user_id, 'extra_use', '', instant_id(x.month_start), 100, x.used_micros, x.max_micros,
      monthly_anniversary(x.month_start, 1));
  END IF;
END $$;
