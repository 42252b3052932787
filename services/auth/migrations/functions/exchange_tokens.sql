-- Exchanges codes and refresh tokens for new refresh tokens, many in one round trip and one commit. Each item names a
-- grant, a code or else a refresh token of it, and the new token. The outcome of each is 'issued', 'grant_ended', or
-- 'reused' if the code or token has been used before; items of one grant are judged one after the other.
-- Every caller locks grants in the order of their ids, so waiting for a lock leads to no deadlock.
CREATE OR REPLACE FUNCTION exchange_tokens(
  p_grant_ids text[], p_codes bytea[], p_refresh_tokens bytea[], p_digests bytea[], p_generations int[], p_jkts text[],
  p_token_life interval, p_grant_unused interval
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  v_outcomes text[] := '{}';
  v_client_id text;
  v_use text;
  v_now timestamptz;
BEGIN
  PERFORM FROM grants WHERE id = ANY (p_grant_ids) ORDER BY id FOR NO KEY UPDATE;
  v_now := clock_timestamp();
  FOR i IN 1 .. cardinality(p_grant_ids) LOOP
    -- The expiry is indexed: it moves only once it is due by an hour.
    UPDATE grants g SET
      last_used_at = v_now,
      expires_at = CASE WHEN g.expires_at > v_now + p_grant_unused - interval '1 hour' THEN g.expires_at ELSE v_now + p_grant_unused END
    WHERE g.id = p_grant_ids[i] AND NOT EXISTS (
      SELECT FROM app_cutoffs k WHERE k.client_id = g.client_id AND k.revoked_through >= g.id
    ) RETURNING g.client_id INTO v_client_id;
    IF NOT FOUND THEN
      v_outcomes[i] := 'grant_ended';
      CONTINUE;
    END IF;
    IF p_codes[i] IS NOT NULL THEN
      UPDATE authorization_codes SET consumed_at = v_now
      WHERE digest = p_codes[i] AND grant_id = p_grant_ids[i] AND consumed_at IS NULL;
    ELSE
      v_use := refresh_use(p_refresh_tokens[i], v_client_id);
      UPDATE refresh_tokens SET
        consumed_at = coalesce(consumed_at, v_now),
        replays = replays + CASE v_use WHEN 'again' THEN 1 ELSE 0 END
      WHERE digest = p_refresh_tokens[i] AND grant_id = p_grant_ids[i] AND v_use IN ('first', 'again');
    END IF;
    IF NOT FOUND THEN
      v_outcomes[i] := 'reused';
      CONTINUE;
    END IF;
    INSERT INTO refresh_tokens (digest, grant_id, generation, jkt, issued_at, expires_at)
    VALUES (p_digests[i], p_grant_ids[i], p_generations[i], p_jkts[i], v_now, v_now + p_token_life);
    v_outcomes[i] := 'issued';
  END LOOP;
  RETURN v_outcomes;
END $$;
