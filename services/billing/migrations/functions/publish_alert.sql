-- Publishes an alert once per window and threshold. A threshold below one that was already reached in the window is not
-- published any more. The caller holds the lock of the row whose use has changed.
CREATE OR REPLACE FUNCTION publish_alert(
  p_svc_user_id text, p_subject text, p_subject_id text, p_window bigint, p_percent int, p_amount bigint, p_limit bigint,
  p_resets_at timestamptz
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO raised_alerts AS r (svc_user_id, subject, subject_id, window_id, percent)
    VALUES (p_svc_user_id, p_subject, p_subject_id, p_window, coalesce(p_percent, 0))
    ON CONFLICT (svc_user_id, subject, subject_id) DO UPDATE SET window_id = excluded.window_id, percent = excluded.percent
      WHERE (excluded.window_id, excluded.percent) > (r.window_id, r.percent);
  IF NOT FOUND THEN RETURN; END IF;
  INSERT INTO outbox (id, aggregate, version, stream, subject, payload)
    VALUES (uuidv7(),
      concat_ws(':', 'alert', p_svc_user_id, p_subject, nullif(p_subject_id, ''), p_window, p_percent), 1,
      'BILLING', 'billing.alert.raised.v1',
      jsonb_build_object('svc_user_id', p_svc_user_id, 'subject', p_subject,
        'client_id', CASE p_subject WHEN 'app_budget' THEN p_subject_id END,
        'key_id', CASE p_subject WHEN 'api_key' THEN p_subject_id END,
        'plan_name', (SELECT p.name FROM accounts AS a JOIN plans AS p ON p.id = a.plan_id
          WHERE a.svc_user_id = p_svc_user_id AND p_subject IN ('weekly_cap', 'monthly_cap')),
        'threshold_percent', p_percent, 'amount_micros', p_amount, 'limit_micros', p_limit,
        'resets_at', to_char(p_resets_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'currency', CASE p_subject WHEN 'wallet' THEN (SELECT w.currency FROM wallets AS w WHERE w.svc_user_id = p_svc_user_id) END));
END $$;
