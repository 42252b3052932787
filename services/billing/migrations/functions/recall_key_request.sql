-- Finds a request by a request id or idempotency key that an API key has used. Returns all NULL if both are new.
CREATE OR REPLACE FUNCTION recall_key_request(
  p_request_id text, p_svc_user_id text, p_key_id text, p_idempotency_key_hash bytea,
  OUT verdict text, OUT duplicate_of text, OUT duplicate_state text
) LANGUAGE plpgsql STABLE AS $$
DECLARE r reservations%ROWTYPE;
BEGIN
  SELECT * INTO r FROM reservations AS v WHERE v.request_id = p_request_id;
  IF FOUND THEN
    verdict := CASE WHEN r.svc_user_id = p_svc_user_id AND r.key_id = p_key_id THEN 'admitted' ELSE 'request_id_taken' END;
  ELSIF p_idempotency_key_hash IS NOT NULL THEN
    SELECT * INTO r FROM reservations AS v
      WHERE v.key_id = p_key_id AND v.idempotency_key_hash = p_idempotency_key_hash;
    IF FOUND THEN
      verdict := 'duplicate_request';
      duplicate_of := r.request_id;
      duplicate_state := r.state;
    END IF;
  END IF;
END $$;
