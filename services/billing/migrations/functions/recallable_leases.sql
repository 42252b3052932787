-- Lists other leases that may hold what a refused request needs: of its key, of its member's keys, or
-- of its wallet if that is empty. Nothing in a lease
-- tells how much of it is spent.
CREATE OR REPLACE FUNCTION recallable_leases(l leases, k key_budgets, p_verdict text) RETURNS uuid[]
LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(v.lease_id), '{}') FROM leases AS v
    WHERE v.svc_user_id = l.svc_user_id AND v.lease_id <> l.lease_id AND v.ended_at IS NULL
      AND (v.key_id = l.key_id OR p_verdict = 'insufficient_balance' OR p_verdict = 'member_monthly_limit_exceeded'
        AND EXISTS (SELECT FROM key_budgets AS b WHERE b.key_id = v.key_id AND b.member_id = k.member_id))
      AND CASE p_verdict
        WHEN 'rate_limit_exceeded' THEN v.minute_start = k.minute_start
          AND (v.granted_requests > v.returned_requests OR v.granted_tokens > v.returned_tokens)
        ELSE v.granted_micros - v.returned_micros > v.settled_micros END
$$;
