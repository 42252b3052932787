-- Returns the verdict that an earlier request decides: it is the same request, or it had the same idempotency key in the last 48
-- hours. Else NULL. The earlier request is searched in the partitions of the last three days of ids, which leaves a day for
-- gateways whose clocks are behind.
CREATE OR REPLACE FUNCTION recall_delegated(
  p_request_id text, p_svc_user_id text, p_client_id text, p_key_hash bytea,
  OUT verdict text, OUT duplicate_of text, OUT duplicate_state text)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  r reservations%ROWTYPE;
  first_id text;
BEGIN
  SELECT * INTO r FROM reservations WHERE request_id = p_request_id;
  IF FOUND THEN
    verdict := CASE WHEN r.svc_user_id = p_svc_user_id AND r.client_id = p_client_id THEN 'admitted'
      ELSE 'request_id_taken' END;
  ELSIF p_key_hash IS NOT NULL THEN
    first_id := request_id_at(billing_now() - interval '3 days');
    SELECT * INTO r FROM reservations
      WHERE svc_user_id = p_svc_user_id AND client_id = p_client_id AND idempotency_key_hash = p_key_hash
        AND request_id >= first_id AND created_at > billing_now() - interval '48 hours' ORDER BY created_at DESC LIMIT 1;
    IF FOUND THEN
      verdict := 'duplicate_request';
      duplicate_of := r.request_id;
      duplicate_state := r.state;
    END IF;
  END IF;
END $$;
