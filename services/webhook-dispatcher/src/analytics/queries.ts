import type { AppDay } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';

/** Inference requests of an app on one UTC day. */
export interface Activity {
  readonly clientId: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly requests: number;
  readonly errors: number;
}

const columns = recordColumns<Activity>({
  clientId: 'client_id text',
  day: 'day date',
  requests: 'requests bigint',
  errors: 'errors bigint',
});

/** Rows are taken in one order, so that facts handled at the same time cannot deadlock. */
const ADD_ACTIVITY = {
  name: 'add_activity',
  text: `INSERT INTO app_activity AS known (${columns.names})
    SELECT client_id, day, sum(requests), sum(errors) FROM ${columns.unnest('given')}
    GROUP BY client_id, day ORDER BY client_id, day
    ON CONFLICT (client_id, day) DO UPDATE
      SET requests = known.requests + excluded.requests, errors = known.errors + excluded.errors`,
};

export const addActivity = async (trx: Knex.Transaction, counts: readonly Activity[]): Promise<void> => {
  await runPrepared(trx, ADD_ACTIVITY, columns.arrays(counts));
};

export const deleteActivity = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('app_activity').where({ client_id: clientId }).delete();
};

const DAY_MS = 86_400_000;
export const LIST_APP_DAYS = `
  WITH days AS (
    SELECT day::date FROM generate_series(:from::date, :to::date, interval '1 day') AS day
  ), made AS (
    SELECT (connected_at AT TIME ZONE 'UTC')::date AS day, count(*) AS connections
    FROM connections
    WHERE client_id = :clientId AND connected_at >= :startsAt AND connected_at < :endsAt
    GROUP BY 1
  ), sent AS (
    SELECT (at AT TIME ZONE 'UTC')::date AS day, count(*) AS deliveries,
      count(*) FILTER (WHERE error IS NOT NULL) AS deliveries_failed
    FROM delivery_attempts
    WHERE owner_id = :clientId AND at >= :startsAt AND at < :endsAt
    GROUP BY 1
  )
  SELECT to_char(d.day, 'YYYY-MM-DD') AS day, coalesce(m.connections, 0)::int AS connections,
    coalesce(a.requests, 0)::int AS requests, coalesce(a.errors, 0)::int AS errors,
    coalesce(s.deliveries, 0)::int AS deliveries, coalesce(s.deliveries_failed, 0)::int AS deliveries_failed
  FROM days d
  LEFT JOIN made m USING (day)
  LEFT JOIN sent s USING (day)
  LEFT JOIN app_activity a ON a.client_id = :clientId AND a.day = d.day
  ORDER BY d.day`;

/** Lists the days of a range, both ends included, with the app's numbers. */
export const listAppDays = async (
  database: Knex,
  range: { readonly clientId: string; readonly from: string; readonly to: string },
): Promise<AppDay[]> => {
  const startsAt = new Date(range.from);
  const endsAt = new Date(Date.parse(range.to) + DAY_MS);
  const { rows } = await database.raw<{ rows: AppDay[] }>(LIST_APP_DAYS, { ...range, startsAt, endsAt });
  return rows;
};
