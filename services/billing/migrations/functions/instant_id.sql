-- Returns an instant as microseconds since the epoch, which names a minute on the wire.
CREATE OR REPLACE FUNCTION instant_id(p_at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (extract(epoch FROM p_at) * 1000000)::bigint
$$;
