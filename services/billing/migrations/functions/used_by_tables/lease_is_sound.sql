-- Returns true if a lease holds nothing negative. See reservation_is_sound for why this is a function.
CREATE OR REPLACE FUNCTION lease_is_sound(
  granted_micros bigint, returned_micros bigint, settled_micros bigint, granted_requests bigint, returned_requests bigint,
  granted_tokens bigint, returned_tokens bigint)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN returned_micros >= 0 AND settled_micros >= 0 AND granted_micros - returned_micros - settled_micros >= 0
    AND granted_requests >= returned_requests AND returned_requests >= 0
    AND granted_tokens >= returned_tokens AND returned_tokens >= 0;
END $$;
