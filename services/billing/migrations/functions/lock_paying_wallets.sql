-- Locks the wallets of accounts, and those that pay delegated requests, in the order of their accounts. A transaction that ends
-- both kinds of requests calls it first.
CREATE OR REPLACE FUNCTION lock_paying_wallets(p_svc_user_ids text[], p_request_ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  owners text[] := p_svc_user_ids || ARRAY(SELECT r.svc_user_id FROM reservations AS r
    WHERE r.request_id = ANY (p_request_ids) AND r.extra_month IS NOT NULL
      AND (r.state IN ('reserved', 'uncertain') OR r.settled_by = 'estimate'));
BEGIN
  IF cardinality(owners) > 0 THEN PERFORM lock_wallets(owners); END IF;
END $$;
