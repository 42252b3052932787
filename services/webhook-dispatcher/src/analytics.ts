import { ANALYTICS_DAYS_MAX, type AppDay, events, routes } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import { type Consumer, type Messaging, startConsumer } from '@svc/messaging';
import { type Binding, bind, type Clock, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from './auth-client.ts';

/** Inference requests of an app on one UTC day. */
interface Activity {
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

const addActivity = async (trx: Knex.Transaction, counts: readonly Activity[]): Promise<void> => {
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
const listAppDays = async (
  database: Knex,
  range: { readonly clientId: string; readonly from: string; readonly to: string },
): Promise<AppDay[]> => {
  const startsAt = new Date(range.from);
  const endsAt = new Date(Date.parse(range.to) + DAY_MS);
  const { rows } = await database.raw<{ rows: AppDay[] }>(LIST_APP_DAYS, { ...range, startsAt, endsAt });
  return rows;
};

/** UTC days as `YYYY-MM-DD`, both included. */
interface DayRange {
  readonly from: string;
  readonly to: string;
}

const DEFAULT_DAYS = 30;

/** Completes a range: 30 days up to today. Throws a 422 fault on `to` if it ends before it begins, or is too long. */
const readRange = (given: { from?: string | undefined; to?: string | undefined }, now: Date): DayRange => {
  const to = given.to ?? dayOf(now.getTime());
  const from = given.from ?? dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw invalidField(['query', 'to'], 'value_error', 'Value error, it is before `from`');
  if (days > ANALYTICS_DAYS_MAX) {
    throw invalidField(
      ['query', 'to'],
      'value_error',
      `Value error, the range is longer than ${ANALYTICS_DAYS_MAX} days`,
    );
  }
  return { from, to };
};

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface AnalyticsRoutesDeps {
  readonly database: Knex;
  readonly auth: AuthClient;
  readonly clock: Clock;
}

export const analyticsRoutes = ({ database, auth, clock }: AnalyticsRoutesDeps): Binding[] => [
  bind(routes.getAppAnalytics, async (context) => {
    const { ownerId: clientId } = await auth.ownerOf(context);
    const data = await listAppDays(database, { clientId, ...readRange(context.query, clock()) });
    return { status: 200, body: { data } };
  }),
];

/** Consumes the gateway's counts of requests, and sums them up by app and day. */
export const startActivityConsumer = ({
  messaging,
  database,
}: {
  readonly messaging: Messaging;
  readonly database: Knex;
}): Consumer =>
  startConsumer({
    messaging,
    database,
    name: 'webhook-dispatcher_activity',
    subjects: [events.appActivity.subject],
    handle: (trx, { data }) =>
      addActivity(
        trx,
        data.counts.map(({ client_id: clientId, ...count }) => ({ clientId, ...count })),
      ),
  });
