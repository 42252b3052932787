import type { Knex } from 'knex';

/**
 * The ledger's rules, checked for all rows of a statement at once instead of one by one: entries belong to a posting, and those
 * that one statement adds to a posting sum to zero, so that a posting always does; a posting has entries when its statement ends.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TRIGGER ledger_entries_balanced ON ledger_entries;
    DROP TRIGGER ledger_postings_balanced ON ledger_postings;
    DROP FUNCTION ledger_assert_added();
    DROP FUNCTION ledger_assert_balanced();
    -- Postings are never deleted, so a look when an entry is added is enough.
    ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_posting_id_fkey;

    CREATE FUNCTION ledger_assert_entries() RETURNS trigger LANGUAGE plpgsql
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
    CREATE TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_assert_entries();

    CREATE FUNCTION ledger_assert_postings() RETURNS trigger LANGUAGE plpgsql
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
    CREATE TRIGGER ledger_postings_balanced AFTER INSERT ON ledger_postings
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ledger_assert_postings();

    -- A posting and its entries are one statement.
    CREATE OR REPLACE FUNCTION ledger_post(
      p_kind text, p_reference text, p_svc_user_id text, p_currency text, p_books text[], p_amounts bigint[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF 0 = ALL (p_amounts) THEN RETURN; END IF;
      PERFORM ledger_post_many(ARRAY[p_kind], ARRAY[p_reference], ARRAY[p_svc_user_id], p_currency, p_books, ARRAY[p_amounts]);
    END $$;
  `);
}
