-- Adds changes of delegated requests to the days of use of the seats that they were made on. Extra use is no use of a seat: the
-- member's own wallet pays it. The caller holds the locks of the accounts.
CREATE OR REPLACE FUNCTION write_seat_usage(p_changes plan_use_change[]) RETURNS void
LANGUAGE plpgsql SET enable_indexscan = off AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM unnest(p_changes) AS c JOIN accounts AS a ON a.svc_user_id = c.svc_user_id
    WHERE a.paid_by IS NOT NULL) THEN RETURN; END IF;
  INSERT INTO seat_usage_days AS d (organization_id, day, svc_user_id, cost_micros)
    SELECT a.paid_by, (c.created_at AT TIME ZONE 'UTC')::date, c.svc_user_id, sum(c.cost)
      FROM unnest(p_changes) AS c JOIN accounts AS a ON a.svc_user_id = c.svc_user_id
      WHERE a.paid_by IS NOT NULL AND c.is_settled AND NOT c.is_extra
      GROUP BY 1, 2, 3
    ON CONFLICT (organization_id, day, svc_user_id) DO UPDATE SET cost_micros = d.cost_micros + excluded.cost_micros;
END $$;
