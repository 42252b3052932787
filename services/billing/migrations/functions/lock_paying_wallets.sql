-- Locks the wallets of accounts, and those that pay delegated requests, in the order of their accounts. A transaction that ends
-- both kinds of requests calls it first.
CREATE OR REPLACE FUNCTION lock_paying_wallets(p_svc_user_ids text[], p_request_ids text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  ids record;
  owners text[];
BEGIN
  SELECT min(id) AS first, max(id) AS last INTO ids FROM unnest(p_request_ids) AS t (id);
  owners := p_svc_user_ids || ARRAY(SELECT r.svc_user_id FROM reservations AS r
    -- The bounds leave out the partitions of other months.
    WHERE r.request_id = ANY (p_request_ids) AND r.request_id BETWEEN ids.first AND ids.last AND r.extra_month IS NOT NULL
      AND (r.state IN ('reserved', 'uncertain') OR r.settled_by = 'estimate'));
  IF cardinality(owners) > 0 THEN PERFORM lock_wallets(owners); END IF;
END $$;
