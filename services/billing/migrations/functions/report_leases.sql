-- Applies the reports of recalled leases, so that what their holders have given up is free. Returns the leases of locked wallets,
-- whose reports the caller sends again.
CREATE OR REPLACE FUNCTION report_leases(p_reports jsonb) RETURNS SETOF uuid
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
  q record;
  at timestamptz := billing_now();
  w wallets%ROWTYPE;
  k key_budgets%ROWTYPE;
  l leases%ROWTYPE;
  reported record;
BEGIN
  FOR q IN
    SELECT v.svc_user_id, v.key_id, v.lease_id, t.report
      FROM jsonb_to_recordset(p_reports) AS t (lease_id uuid, report jsonb) JOIN leases AS v ON v.lease_id = t.lease_id
      ORDER BY v.svc_user_id, v.key_id
  LOOP
    SELECT * INTO w FROM wallets AS v WHERE v.svc_user_id = q.svc_user_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN NEXT q.lease_id;
      CONTINUE;
    END IF;
    SELECT * INTO l FROM leases AS v WHERE v.lease_id = q.lease_id AND v.ended_at IS NULL;
    CONTINUE WHEN NOT FOUND;
    SELECT * INTO k FROM key_budgets AS b WHERE b.key_id = q.key_id;
    k := with_current_key_windows(k, at);
    reported := report_lease(l, k, q.report, at);
    PERFORM write_lease(reported.lease, reported.key,
      w.held_micros - ((reported.lease).returned_micros - l.returned_micros));
  END LOOP;
END $$;
