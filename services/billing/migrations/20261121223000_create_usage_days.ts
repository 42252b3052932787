import type { Knex } from 'knex';

/**
 * What each account used by day, app and service: the history that its owner reads. A range of reservations would have to be
 * read request by request and would cost admission another index; this costs settlement one write for each day and app of a
 * batch, in its own transaction. It follows from what a change of a reservation changed, so whatever comes twice, late or is
 * adjusted counts once, on the UTC day of the admission.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE usage_days (
      svc_user_id text NOT NULL,
      day date NOT NULL,
      client_id text NOT NULL,
      service text NOT NULL,
      -- Settled requests and what they cost; an uncertain one is counted once it is settled.
      requests int NOT NULL CHECK (requests >= 0),
      cost_micros bigint NOT NULL CHECK (cost_micros >= 0),
      PRIMARY KEY (svc_user_id, day, client_id, service)
    ) WITH (fillfactor = 70);

    -- Whoever settles holds the account's row, so two statements never wait for each other's rows here.
    CREATE FUNCTION usage_days_follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      MERGE INTO usage_days AS d USING (
        SELECT n.svc_user_id, (n.created_at AT TIME ZONE 'UTC')::date AS day, n.client_id, n.service,
            sum((n.state = 'settled')::int - (o.state = 'settled')::int) AS requests,
            sum(coalesce(n.cost_micros, 0) - coalesce(o.cost_micros, 0)) AS cost_micros
          FROM after_change AS n JOIN before_change AS o USING (request_id)
          WHERE n.kind = 'delegated' AND 'settled' IN (n.state, o.state)
          GROUP BY 1, 2, 3, 4) AS change
        ON (d.svc_user_id, d.day, d.client_id, d.service) = (change.svc_user_id, change.day, change.client_id, change.service)
        WHEN MATCHED AND (change.requests <> 0 OR change.cost_micros <> 0) THEN
          UPDATE SET requests = d.requests + change.requests, cost_micros = d.cost_micros + change.cost_micros
        WHEN NOT MATCHED THEN
          INSERT VALUES (change.svc_user_id, change.day, change.client_id, change.service, change.requests, change.cost_micros);
      RETURN NULL;
    END $$;
    -- From here on nobody settles until this transaction ends: what was settled before is added up below, the rest follows.
    CREATE TRIGGER reservations_usage_days AFTER UPDATE ON reservations
      REFERENCING OLD TABLE AS before_change NEW TABLE AS after_change
      FOR EACH STATEMENT EXECUTE FUNCTION usage_days_follow();

    INSERT INTO usage_days (svc_user_id, day, client_id, service, requests, cost_micros)
      SELECT svc_user_id, (created_at AT TIME ZONE 'UTC')::date, client_id, service, count(*), sum(cost_micros)
      FROM reservations WHERE kind = 'delegated' AND state = 'settled' GROUP BY 1, 2, 3, 4;
  `);
}
