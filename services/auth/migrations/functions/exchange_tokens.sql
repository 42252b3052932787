-- Exchanges codes and refresh tokens for new refresh tokens, many in one round trip and one commit. Each item names a
-- grant, a code or a device code or else a refresh token of it, and the new token. The outcome of each is 'issued', 'grant_ended',
-- 'reused' if the code or token has been used before, or 'other_key' if its tokens have been bound to another key;
-- items of one grant are judged one after the other.
-- Every caller locks grants in the order of their ids, so waiting for a lock leads to no deadlock.
CREATE OR REPLACE FUNCTION exchange_tokens(
  p_grant_ids text[], p_codes bytea[], p_device_codes bytea[], p_refresh_tokens bytea[], p_families bytea[],
  p_digests bytea[], p_jkts text[], p_token_life interval, p_grant_unused interval
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
    IF p_refresh_tokens[i] IS NULL THEN
      IF p_codes[i] IS NOT NULL THEN
        UPDATE authorization_codes SET consumed_at = v_now
        WHERE digest = p_codes[i] AND grant_id = p_grant_ids[i] AND consumed_at IS NULL;
      ELSE
        UPDATE device_codes SET redeemed_at = v_now
        WHERE digest = p_device_codes[i] AND grant_id = p_grant_ids[i] AND redeemed_at IS NULL;
      END IF;
      IF NOT FOUND THEN
        v_outcomes[i] := 'reused';
        CONTINUE;
      END IF;
      INSERT INTO refresh_tokens (grant_id, family, digests, jkt, issued_at, expires_at)
      VALUES (p_grant_ids[i], p_families[i], ARRAY[p_digests[i]], p_jkts[i], v_now, v_now + p_token_life);
    ELSE
      v_use := refresh_use(p_grant_ids[i], p_families[i], p_refresh_tokens[i], v_client_id);
      IF v_use IS NULL OR v_use = 'reuse' THEN
        v_outcomes[i] := 'reused';
        CONTINUE;
      END IF;
      UPDATE refresh_tokens SET
        digests = CASE v_use WHEN 'again' THEN digests || p_digests[i] ELSE ARRAY[p_digests[i]] END,
        predecessor = p_refresh_tokens[i],
        predecessor_used_at = CASE v_use WHEN 'again' THEN predecessor_used_at ELSE v_now END,
        jkt = coalesce(jkt, p_jkts[i]), issued_at = v_now, expires_at = v_now + p_token_life
      WHERE grant_id = p_grant_ids[i] AND (jkt IS NULL OR jkt = p_jkts[i]);
      IF NOT FOUND THEN
        v_outcomes[i] := 'other_key';
        CONTINUE;
      END IF;
    END IF;
    v_outcomes[i] := 'issued';
  END LOOP;
  RETURN v_outcomes;
END $$;
