-- Returns the first request with an idempotency key of an API key, and its state; NULL if the key is new, or that of the given
-- request.
CREATE OR REPLACE FUNCTION recall_key_request(p_key_id text, p_idempotency_key text, p_request_id text) RETURNS jsonb
LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('request_id', i.request_id, 'state', coalesce(
      (SELECT r.state FROM key_requests AS r WHERE r.id = uuid_of_id('req', i.request_id)),
      -- While it runs, its lease lives.
      CASE WHEN EXISTS (SELECT FROM leases AS l WHERE l.lease_id = i.lease_id AND NOT l.is_remembered)
          AND NOT EXISTS (SELECT FROM uncertain_key_requests AS u WHERE u.request_id = i.request_id)
        THEN 'reserved' ELSE 'uncertain' END))
  FROM key_idempotency AS i
  WHERE i.key_id = p_key_id AND i.idempotency_key_hash = sha256(convert_to(p_idempotency_key, 'UTF8'))
    AND i.request_id <> p_request_id
$$;
