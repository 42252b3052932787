-- Returns what the monthly limit of a member leaves for the month with the given start: the limit less what all API keys of the
-- member have used in the month, and less what their leases hold, except those of the given lease. NULL without a limit; then it
-- reads nothing else. Exact under the lock of the wallet.
CREATE OR REPLACE FUNCTION member_left_micros(
  p_svc_user_id text, p_member_id text, p_month_start timestamptz, p_except_lease uuid) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  monthly_limit bigint;
  used bigint;
BEGIN
  IF p_member_id IS NULL THEN RETURN NULL; END IF;
  SELECT m.monthly_limit_micros INTO monthly_limit FROM member_limits AS m
    WHERE m.svc_user_id = p_svc_user_id AND m.member_id = p_member_id;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT coalesce(sum(k.month_used_micros), 0) INTO used FROM key_budgets AS k
    WHERE k.svc_user_id = p_svc_user_id AND k.member_id = p_member_id AND k.month_start = p_month_start;
  RETURN monthly_limit - used - (
    SELECT coalesce(sum(l.granted_micros - l.returned_micros - l.settled_micros), 0) FROM leases AS l
      JOIN key_budgets AS k ON k.key_id = l.key_id
      WHERE l.svc_user_id = p_svc_user_id AND l.month_start = p_month_start AND k.member_id = p_member_id
        AND l.lease_id IS DISTINCT FROM p_except_lease);
END $$;
