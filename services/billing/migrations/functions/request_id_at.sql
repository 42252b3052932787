-- Returns the first id of a request that begins at this time. Ids begin with 48 bits of milliseconds in base32.
CREATE OR REPLACE FUNCTION request_id_at(p_at timestamptz) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  rest bigint := extract(epoch FROM p_at) * 1000;
  text_of_time text := '';
BEGIN
  FOR digit IN 1..10 LOOP
    text_of_time := substr('0123456789abcdefghjkmnpqrstvwxyz', (rest & 31)::int + 1, 1) || text_of_time;
    rest := rest >> 5;
  END LOOP;
  RETURN 'req_' || text_of_time;
END $$;
