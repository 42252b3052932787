import type { Knex } from 'knex';

/** Exchanges of codes and refresh tokens, many in one round trip: each of their statements is planned once. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
-- Notes the use of a grant that holds and locks it until the transaction ends; false where it does not hold, or, unless asked
-- to wait, where somebody else has locked it. The expiry is indexed: it moves only once it is due by an hour.
CREATE FUNCTION touch_grant(p_id text, p_used_at timestamptz, p_expires_at timestamptz, p_waits boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF p_waits THEN
    PERFORM FROM grants WHERE id = p_id FOR NO KEY UPDATE;
  ELSE
    PERFORM FROM grants WHERE id = p_id FOR NO KEY UPDATE SKIP LOCKED;
  END IF;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE grants g SET
    last_used_at = p_used_at,
    expires_at = CASE WHEN g.expires_at > p_expires_at - interval '1 hour' THEN g.expires_at ELSE p_expires_at END
  WHERE g.id = p_id AND NOT EXISTS (
    SELECT FROM app_cutoffs k WHERE k.client_id = g.client_id AND k.revoked_through >= g.id
  );
  RETURN FOUND;
END $$;

-- Each item names a grant, a code or else a refresh token of it, and the refresh token that this is exchanged for. Exchanged is
-- what nobody has used before, under a grant that holds and that nobody else has locked: as no lock is waited for, locking many
-- grants in any order leads to no deadlock. Answers for each item whether it was; the others are as they were.
CREATE FUNCTION exchange_unused(
  p_used_at timestamptz, p_grants_expire_at timestamptz, p_grant_ids text[], p_used_codes bytea[], p_used_tokens bytea[],
  p_digests bytea[], p_generations int[], p_jkts text[], p_issued_at timestamptz[], p_expires_at timestamptz[]
) RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
  v_exchanged boolean[] := '{}';
BEGIN
  FOR i IN 1 .. cardinality(p_grant_ids) LOOP
    v_exchanged[i] := false;
    CONTINUE WHEN NOT touch_grant(p_grant_ids[i], p_used_at, p_grants_expire_at, false);
    IF p_used_codes[i] IS NOT NULL THEN
      UPDATE authorization_codes SET consumed_at = p_used_at
      WHERE digest = p_used_codes[i] AND grant_id = p_grant_ids[i] AND consumed_at IS NULL;
    ELSE
      UPDATE refresh_tokens SET consumed_at = p_used_at
      WHERE digest = p_used_tokens[i] AND grant_id = p_grant_ids[i] AND consumed_at IS NULL;
    END IF;
    CONTINUE WHEN NOT FOUND;
    INSERT INTO refresh_tokens (digest, grant_id, generation, jkt, issued_at, expires_at)
    VALUES (p_digests[i], p_grant_ids[i], p_generations[i], p_jkts[i], p_issued_at[i], p_expires_at[i]);
    v_exchanged[i] := true;
  END LOOP;
  RETURN v_exchanged;
END $$;
`);
};
