import type { Knex } from 'knex';

/** The rules of a posting as one function, for the reason told where those of reservations are. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION ledger_posting_is_sound(kind text, currency text)
    RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
      RETURN kind IN ('usage', 'usage_adjustment', 'top_up', 'hold', 'release', 'settlement', 'adjustment', 'refund')
        AND currency ~ '^[A-Z]{3}$';
    END $$;

    ALTER TABLE ledger_postings
      DROP CONSTRAINT ledger_postings_currency_check, DROP CONSTRAINT ledger_postings_kind_check,
      ADD CONSTRAINT ledger_postings_sound CHECK (ledger_posting_is_sound(kind, currency)) NOT VALID;
  `);
}
