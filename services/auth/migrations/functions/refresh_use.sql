-- Judges the presentation of a refresh token by a client: 'first', 'again' (a predecessor within the grace of its app) or
-- 'reuse' (RFC 9700 section 4.14.2). Tokens of one generation of a grant are siblings, handed out for one predecessor.
-- Once one of them has been presented, the predecessor and the other siblings are spent. NULL if the token is unknown.
-- Time is the database's, as the clocks of replicas differ.
CREATE OR REPLACE FUNCTION refresh_use(p_digest bytea, p_client_id text)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_token refresh_tokens;
  v_grace_seconds int;
BEGIN
  SELECT * INTO v_token FROM refresh_tokens WHERE digest = p_digest;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF EXISTS (
    SELECT FROM refresh_tokens other
    WHERE other.grant_id = v_token.grant_id AND other.generation >= v_token.generation
      AND other.consumed_at IS NOT NULL AND other.digest <> p_digest
  ) THEN
    RETURN 'reuse';
  END IF;
  IF v_token.consumed_at IS NULL THEN
    RETURN 'first';
  END IF;
  SELECT a.refresh_grace_seconds INTO v_grace_seconds
  FROM grants g JOIN apps a ON a.client_id = g.client_id
  WHERE g.id = v_token.grant_id AND a.client_id = p_client_id;
  -- Without a grace a repetition is reuse even if the clock was set back in between.
  IF v_grace_seconds > 0 AND v_token.replays < 4
    AND clock_timestamp() < v_token.consumed_at + v_grace_seconds * interval '1 second'
  THEN
    RETURN 'again';
  END IF;
  RETURN 'reuse';
END $$;
