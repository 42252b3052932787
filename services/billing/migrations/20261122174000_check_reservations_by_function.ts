import type { Knex } from 'knex';

/**
 * PostgreSQL reads the text of every check of a table anew for each statement that writes to it (`ExecRelCheck`): for the twelve of a
 * reservation that took longer than all the rest of the insert. A function is compiled once for each connection, so one function has
 * the rules now, which are the same. The rows of accounts follow in a migration of their own: whoever locks two tables may meet a
 * request that comes to them in another order. Those of the ledger stay as they are, as many are written by one statement.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION reservation_is_sound(
      kind text, client_id text, key_id text, service text, week_start timestamptz, state text, estimate_micros bigint,
      cost_micros bigint, settled_by text, ended_at timestamptz)
    RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
      RETURN kind IN ('delegated', 'api_key', 'given_up')
        AND (client_id IS NOT NULL) = (kind = 'delegated')
        AND (service IS NOT NULL) = (kind = 'delegated')
        AND (week_start IS NOT NULL) = (kind = 'delegated')
        AND (key_id IS NOT NULL) = (kind = 'api_key')
        AND state IN ('reserved', 'uncertain', 'settled', 'released')
        AND (state IN ('settled', 'released')) = (ended_at IS NOT NULL)
        AND (state = 'settled') = (cost_micros IS NOT NULL)
        AND (state = 'settled') = (settled_by IS NOT NULL)
        AND coalesce(settled_by IN ('usage', 'estimate'), true)
        AND coalesce(cost_micros >= 0, true)
        AND estimate_micros >= 0;
    END $$;

    -- Not yet valid, so that nobody waits while all rows are read: the migration after the next does that.
    ALTER TABLE reservations
      DROP CONSTRAINT reservations_check, DROP CONSTRAINT reservations_check1, DROP CONSTRAINT reservations_check2,
      DROP CONSTRAINT reservations_check3, DROP CONSTRAINT reservations_cost_micros_check,
      DROP CONSTRAINT reservations_end_has_time, DROP CONSTRAINT reservations_estimate_micros_check,
      DROP CONSTRAINT reservations_kind_check, DROP CONSTRAINT reservations_settled_by_check,
      DROP CONSTRAINT reservations_settled_has_cost, DROP CONSTRAINT reservations_settled_has_source,
      DROP CONSTRAINT reservations_state_check,
      ADD CONSTRAINT reservations_sound CHECK (reservation_is_sound(kind, client_id, key_id, service, week_start, state,
        estimate_micros, cost_micros, settled_by, ended_at)) NOT VALID;
  `);
}
