-- Judges the presentation of a refresh token by a client: 'first', 'again' (a predecessor within the grace of its app) or
-- 'reuse' (RFC 9700 section 4.14.2). Siblings are tokens of a grant that were handed out for one predecessor. Once one of
-- them has been presented, the predecessor and the other siblings are spent. NULL if the grant has no such family.
-- Time is the database's, as the clocks of replicas differ.
CREATE OR REPLACE FUNCTION refresh_use(p_grant_id text, p_family bytea, p_digest bytea, p_client_id text)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_tokens refresh_tokens;
  v_grace_seconds int;
BEGIN
  SELECT * INTO v_tokens FROM refresh_tokens WHERE grant_id = p_grant_id AND family = p_family;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF p_digest = ANY (v_tokens.digests) THEN
    RETURN 'first';
  END IF;
  IF p_digest IS DISTINCT FROM v_tokens.predecessor THEN
    RETURN 'reuse';
  END IF;
  SELECT a.refresh_grace_seconds INTO v_grace_seconds
  FROM grants g JOIN apps a ON a.client_id = g.client_id
  WHERE g.id = p_grant_id AND a.client_id = p_client_id;
  -- Without a grace a repetition is reuse even if the clock was set back in between.
  IF v_grace_seconds > 0 AND cardinality(v_tokens.digests) < 5
    AND clock_timestamp() < v_tokens.predecessor_used_at + v_grace_seconds * interval '1 second'
  THEN
    RETURN 'again';
  END IF;
  RETURN 'reuse';
END $$;
