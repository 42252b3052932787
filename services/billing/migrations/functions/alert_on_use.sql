-- Raises an alert if use has crossed a threshold of its limit; for the highest one if it has crossed several. Without a
-- limit (NULL or 0) there is no threshold. Reads the account's settings only if a whole percent was crossed.
CREATE OR REPLACE FUNCTION alert_on_use(
  p_svc_user_id text, p_subject text, p_subject_id text, p_window_start timestamptz, p_before bigint, p_after bigint,
  p_limit bigint, p_resets_at timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE percent int;
BEGIN
  IF coalesce(p_limit, 0) = 0 OR p_after * 100 / p_limit <= p_before * 100 / p_limit THEN RETURN; END IF;
  SELECT max(t) INTO percent FROM unnest((alert_settings_of(p_svc_user_id)).thresholds_percent) AS t
    WHERE t > p_before * 100 / p_limit AND t <= p_after * 100 / p_limit;
  IF percent IS NULL THEN RETURN; END IF;
  PERFORM publish_alert(p_svc_user_id, p_subject, p_subject_id,
    (extract(epoch FROM p_window_start) * 1000000)::bigint, percent, p_after, p_limit, p_resets_at);
END $$;
