import type { Knex } from 'knex';

/** The rules of an entry as one function, for the reason told where those of reservations are. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION ledger_entry_is_sound(book text, amount_micros bigint)
    RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
      RETURN book IN ('usage', 'allowance', 'wallet_available', 'wallet_held', 'payments_received', 'income')
        AND amount_micros <> 0;
    END $$;

    ALTER TABLE ledger_entries
      DROP CONSTRAINT ledger_entries_amount_micros_check, DROP CONSTRAINT ledger_entries_book_check,
      ADD CONSTRAINT ledger_entries_sound CHECK (ledger_entry_is_sound(book, amount_micros)) NOT VALID;
  `);
}
