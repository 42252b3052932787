-- Returns the first id of a request that begins at this time; see time_of_uuid.
CREATE OR REPLACE FUNCTION request_id_at(p_at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT id_of_uuid('req', rpad(lpad(to_hex((extract(epoch FROM p_at) * 1000)::bigint), 12, '0'), 32, '0')::uuid)
$$;
