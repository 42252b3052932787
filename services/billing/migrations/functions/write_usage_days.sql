-- Adds changes of delegated requests to the days of use. A request counts on the day of its admission, and for the first
-- day of a window only while that window is the account's current one. The caller holds the locks of the accounts.
-- Bitmap scans need a condition, so that no plan, even one made over an empty table, reads a whole index.
CREATE OR REPLACE FUNCTION write_usage_days(p_changes plan_use_change[]) RETURNS void
LANGUAGE plpgsql SET enable_indexscan = off AS $$
BEGIN
  MERGE INTO usage_days AS d USING (
    SELECT c.svc_user_id, (c.created_at AT TIME ZONE 'UTC')::date AS day, c.client_id, c.service,
        -- An adjustment changes the cost of a request that is counted already.
        count(*) FILTER (WHERE c.is_first) AS requests, sum(c.cost) AS cost_micros,
        coalesce(sum(c.cost) FILTER (WHERE a.week_start = c.week_start
          AND (c.week_start AT TIME ZONE 'UTC')::date = (c.created_at AT TIME ZONE 'UTC')::date), 0) AS week_first_micros,
        coalesce(sum(c.cost) FILTER (WHERE a.month_start = c.month_start
          AND (c.month_start AT TIME ZONE 'UTC')::date = (c.created_at AT TIME ZONE 'UTC')::date), 0) AS month_first_micros
      FROM unnest(p_changes) AS c JOIN accounts AS a ON a.svc_user_id = c.svc_user_id
      WHERE c.is_settled
      GROUP BY 1, 2, 3, 4) AS change
    ON (d.svc_user_id, d.day, d.client_id, d.service) = (change.svc_user_id, change.day, change.client_id, change.service)
    WHEN MATCHED THEN
      UPDATE SET requests = d.requests + change.requests, cost_micros = d.cost_micros + change.cost_micros,
        week_first_micros = d.week_first_micros + change.week_first_micros,
        month_first_micros = d.month_first_micros + change.month_first_micros
    WHEN NOT MATCHED THEN
      INSERT VALUES (change.svc_user_id, change.day, change.client_id, change.service, change.requests, change.cost_micros,
        change.week_first_micros, change.month_first_micros);
END $$;
