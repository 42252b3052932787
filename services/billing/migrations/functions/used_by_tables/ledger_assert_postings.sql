-- Checks that each posting has entries when its statement ends.
CREATE OR REPLACE FUNCTION ledger_assert_postings() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE posting bigint;
BEGIN
  SELECT a.id INTO posting FROM added AS a
    WHERE NOT EXISTS (SELECT FROM ledger_entries AS e WHERE e.posting_id = a.id) LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'ledger posting % has no entries', posting USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
