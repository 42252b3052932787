-- Sets what all API keys of a member together may spend in a month; NULL for no limit. Takes effect with the next ask for a lease:
-- the lock of the wallet excludes them. Returns the leases of the member's keys, whose unspent parts the caller recalls.
CREATE OR REPLACE FUNCTION set_member_limit(p_svc_user_id text, p_member_id text, p_monthly_limit bigint) RETURNS SETOF uuid
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM lock_wallets(ARRAY[p_svc_user_id]);
  IF p_monthly_limit IS NULL THEN
    DELETE FROM member_limits AS m WHERE m.svc_user_id = p_svc_user_id AND m.member_id = p_member_id;
    RETURN;
  END IF;
  INSERT INTO member_limits AS m VALUES (p_svc_user_id, p_member_id, p_monthly_limit)
    ON CONFLICT (svc_user_id, member_id) DO UPDATE SET monthly_limit_micros = excluded.monthly_limit_micros;
  RETURN QUERY SELECT l.lease_id FROM leases AS l JOIN key_budgets AS k ON k.key_id = l.key_id
    WHERE l.svc_user_id = p_svc_user_id AND l.ended_at IS NULL AND k.member_id = p_member_id
      AND l.granted_micros - l.returned_micros > l.settled_micros;
END $$;
