-- Updates the days of use from changes of delegated reservations, in the same transaction. A request counts on the day
-- of its admission, and for the first day of a window only while that window is the account's current one. The caller holds
-- the locks of the accounts.
CREATE OR REPLACE FUNCTION usage_days_follow() RETURNS trigger
LANGUAGE plpgsql SET enable_hashjoin = on SET enable_indexscan = off AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM after_change WHERE kind = 'delegated') THEN RETURN NULL; END IF;
  MERGE INTO usage_days AS d USING (
    SELECT c.svc_user_id, c.day, c.client_id, c.service, sum(c.requests) AS requests, sum(c.cost_micros) AS cost_micros,
        sum(CASE WHEN c.is_in_week AND (c.week_start AT TIME ZONE 'UTC')::date = c.day THEN c.cost_micros ELSE 0 END)
          AS week_first_micros,
        sum(CASE WHEN c.is_in_month AND (c.month_start AT TIME ZONE 'UTC')::date = c.day THEN c.cost_micros ELSE 0 END)
          AS month_first_micros
      FROM (
        SELECT n.svc_user_id, (n.created_at AT TIME ZONE 'UTC')::date AS day, n.client_id, n.service, n.week_start,
            n.month_start, (n.state = 'settled')::int - (o.state = 'settled')::int AS requests,
            coalesce(n.cost_micros, 0) - coalesce(o.cost_micros, 0) AS cost_micros,
            a.week_start = n.week_start AS is_in_week, a.month_start = n.month_start AS is_in_month
          FROM after_change AS n JOIN before_change AS o USING (request_id)
            -- One look-up for each request, whatever the number of accounts.
            LEFT JOIN LATERAL (SELECT v.week_start, v.month_start FROM accounts AS v
              WHERE v.svc_user_id = n.svc_user_id OFFSET 0) AS a ON true
          WHERE n.kind = 'delegated' AND 'settled' IN (n.state, o.state)) AS c
      GROUP BY 1, 2, 3, 4) AS change
    ON (d.svc_user_id, d.day, d.client_id, d.service) = (change.svc_user_id, change.day, change.client_id, change.service)
    WHEN MATCHED AND (change.requests <> 0 OR change.cost_micros <> 0) THEN
      UPDATE SET requests = d.requests + change.requests, cost_micros = d.cost_micros + change.cost_micros,
        week_first_micros = d.week_first_micros + change.week_first_micros,
        month_first_micros = d.month_first_micros + change.month_first_micros
    WHEN NOT MATCHED THEN
      INSERT VALUES (change.svc_user_id, change.day, change.client_id, change.service, change.requests, change.cost_micros,
        change.week_first_micros, change.month_first_micros);
  RETURN NULL;
END $$;
