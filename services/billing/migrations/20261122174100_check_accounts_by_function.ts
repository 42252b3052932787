import type { Knex } from 'knex';

/** The rules of an account as one function, for the reason told where those of reservations are. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION account_is_sound(
      anchor timestamptz, "interval" text, period_start timestamptz, period_end timestamptz, week_used_micros bigint,
      month_used_micros bigint, pending int)
    RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
      RETURN date_trunc('milliseconds', anchor) = anchor
        AND "interval" IN ('month', 'year')
        AND period_end > period_start
        AND week_used_micros >= 0
        AND month_used_micros >= 0
        AND pending BETWEEN 0 AND 2;
    END $$;

    ALTER TABLE accounts
      DROP CONSTRAINT accounts_anchor_check, DROP CONSTRAINT accounts_check, DROP CONSTRAINT accounts_interval_check,
      DROP CONSTRAINT accounts_month_used_micros_check, DROP CONSTRAINT accounts_pending_check,
      DROP CONSTRAINT accounts_week_used_micros_check,
      ADD CONSTRAINT accounts_sound CHECK (account_is_sound(anchor, "interval", period_start, period_end, week_used_micros,
        month_used_micros, pending)) NOT VALID;
  `);
}
