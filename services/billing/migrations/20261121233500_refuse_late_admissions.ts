import type { Knex } from 'knex';

/**
 * A gateway that does not hear whether a request was admitted gives it up and says so. If that overtakes the admission itself, the
 * place would be taken, and in the end charged, for a request that was never forwarded. So its id is taken first: the admission
 * then finds it in use, by the unique key that makes it idempotent, and costs nothing more for it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE reservations
      DROP CONSTRAINT reservations_kind_check,
      ADD CONSTRAINT reservations_kind_check CHECK (kind IN ('delegated', 'api_key', 'given_up')) NOT VALID;
    ALTER TABLE reservations VALIDATE CONSTRAINT reservations_kind_check;

    -- Answers those that were admitted meanwhile, which are to be released as any other.
    CREATE FUNCTION give_up_requests(p_request_ids text[]) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE at timestamptz := billing_now();
    BEGIN
      INSERT INTO reservations (request_id, kind, svc_user_id, state, estimate_micros, month_start, created_at, ended_at)
        SELECT DISTINCT id, 'given_up', '', 'released', 0, date_trunc('month', at, 'UTC'), at, at FROM unnest(p_request_ids) AS id
        ORDER BY id ON CONFLICT DO NOTHING;
      RETURN QUERY SELECT r.request_id FROM reservations AS r WHERE r.request_id = ANY (p_request_ids) AND r.kind <> 'given_up';
    END $$;
  `);
}
