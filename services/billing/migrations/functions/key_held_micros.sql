-- Returns the sum that the leases of an API key hold in the month with the given start. Exact under the lock of the key's
-- wallet.
CREATE OR REPLACE FUNCTION key_held_micros(p_svc_user_id text, p_key_id text, p_month_start timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(granted_micros - returned_micros - settled_micros), 0)::bigint FROM leases
    WHERE svc_user_id = p_svc_user_id AND key_id = p_key_id AND month_start = p_month_start
$$;
