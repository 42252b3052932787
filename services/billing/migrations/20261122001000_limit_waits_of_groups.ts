import type { Knex } from 'knex';

/**
 * A row that somebody else holds for long, as a batch of facts may, must not hold up a whole group of calls: after this time the
 * group is given up, and each of its calls waits for its own row alone. Nobody's work on a row takes that long unless it hangs.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER FUNCTION admit_delegated_many(text[], text[], text[], text[], bigint[], text[], interval) SET lock_timeout = '1s';
    ALTER FUNCTION admit_keyed_many(text[], text[], text[], bigint[], int[], bigint[]) SET lock_timeout = '1s';

    -- As settle_many, for calls of which none may hold up the others.
    CREATE FUNCTION settle_together(p_request_ids text[], p_outcomes text[], p_costs bigint[], p_currency text)
    RETURNS TABLE (request_id text, state text, effect text, over_hold_micros bigint)
    LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
    BEGIN
      RETURN QUERY SELECT * FROM settle_many(p_request_ids, p_outcomes, p_costs, p_currency);
    END $$;
  `);
}
