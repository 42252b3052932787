-- Writes the changes of ended delegated requests to accounts. A window that is over keeps its count. The caller holds the
-- locks of the accounts.
CREATE OR REPLACE FUNCTION write_delegated_use(p_changes plan_use_change[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE accounts AS a SET pending = a.pending - d.ended, week_used_micros = a.week_used_micros + d.week,
      month_used_micros = a.month_used_micros + d.month
    FROM (SELECT c.svc_user_id, sum(c.ended) AS ended,
            coalesce(sum(c.counted) FILTER (WHERE v.week_start = c.week_start), 0) AS week,
            coalesce(sum(c.counted) FILTER (WHERE v.month_start = c.month_start), 0) AS month
          FROM unnest(p_changes) AS c JOIN accounts AS v ON v.svc_user_id = c.svc_user_id GROUP BY c.svc_user_id) AS d
    WHERE a.svc_user_id = d.svc_user_id;
END $$;
