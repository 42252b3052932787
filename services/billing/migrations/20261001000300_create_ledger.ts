import type { Knex } from 'knex';

/**
 * The ledger: a posting is a set of entries that sum to zero; both are only ever added. A positive amount is an increase
 * of that book of the account. `reference` and `kind` together are the idempotency key of a posting.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE ledger_postings (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN (
        'usage', 'usage_adjustment', 'top_up', 'hold', 'release', 'settlement', 'adjustment', 'refund')),
      reference text NOT NULL,
      svc_user_id text NOT NULL,
      currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
      posted_at timestamptz NOT NULL,
      CONSTRAINT ledger_postings_once UNIQUE (reference, kind)
    );
    CREATE INDEX ledger_postings_by_account ON ledger_postings (svc_user_id, id);

    CREATE TABLE ledger_entries (
      posting_id bigint NOT NULL REFERENCES ledger_postings (id),
      book text NOT NULL CHECK (book IN (
        'usage', 'allowance', 'wallet_available', 'wallet_held', 'payments_received', 'income')),
      amount_micros bigint NOT NULL CHECK (amount_micros <> 0),
      PRIMARY KEY (posting_id, book)
    );

    CREATE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the ledger is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
    END $$;
    CREATE TRIGGER ledger_postings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_postings
      FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
    CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
      FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

    -- At commit, so that entries may be added one by one, and on both tables, so that no posting is left without entries.
    CREATE FUNCTION ledger_assert_balanced() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE
      posting bigint;
      total bigint;
    BEGIN
      IF TG_TABLE_NAME = 'ledger_postings' THEN posting := NEW.id; ELSE posting := NEW.posting_id; END IF;
      SELECT sum(amount_micros) INTO total FROM ledger_entries WHERE posting_id = posting;
      IF total IS DISTINCT FROM 0 THEN
        RAISE EXCEPTION 'ledger posting % sums to %, not to 0', posting, total USING ERRCODE = 'check_violation';
      END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER ledger_postings_balanced AFTER INSERT ON ledger_postings
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_assert_balanced();
    CREATE CONSTRAINT TRIGGER ledger_entries_balanced AFTER INSERT ON ledger_entries
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_assert_balanced();

    -- The one writer. Amounts of zero are left out; a posting of nothing but zeros is none.
    CREATE FUNCTION ledger_post(
      p_kind text, p_reference text, p_svc_user_id text, p_currency text, p_books text[], p_amounts bigint[])
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE posting bigint;
    BEGIN
      IF 0 = ALL (p_amounts) THEN RETURN; END IF;
      INSERT INTO ledger_postings (kind, reference, svc_user_id, currency, posted_at)
        VALUES (p_kind, p_reference, p_svc_user_id, p_currency, billing_now()) RETURNING id INTO posting;
      INSERT INTO ledger_entries (posting_id, book, amount_micros)
        SELECT posting, t.book, t.amount FROM unnest(p_books, p_amounts) AS t (book, amount) WHERE t.amount <> 0;
    END $$;
  `);
}
