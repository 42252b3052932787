-- Checks all entries that one statement adds: each belongs to a posting, and those of a posting sum to zero. Postings are never
-- deleted, so a check when an entry is added is enough.
CREATE OR REPLACE FUNCTION ledger_assert_entries() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE fault record;
BEGIN
  SELECT a.posting_id AS posting, sum(a.amount_micros) AS total, bool_and(p.id IS NOT NULL) AS is_posted INTO fault
    FROM added AS a LEFT JOIN ledger_postings AS p ON p.id = a.posting_id
    GROUP BY a.posting_id HAVING sum(a.amount_micros) <> 0 OR bool_or(p.id IS NULL) LIMIT 1;
  IF FOUND AND NOT fault.is_posted THEN
    RAISE EXCEPTION 'there is no ledger posting %', fault.posting USING ERRCODE = 'foreign_key_violation';
  ELSIF FOUND THEN
    RAISE EXCEPTION 'entries for ledger posting % sum to %, not to 0', fault.posting, fault.total
      USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;
