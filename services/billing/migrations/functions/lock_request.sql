-- Locks the id of a delegated request until the transaction ends, so that it is inserted once: by an admission, or as a tombstone.
CREATE OR REPLACE FUNCTION lock_request(p_request_id text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_request_id, 0));
END $$;
