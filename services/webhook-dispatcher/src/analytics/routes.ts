import { ANALYTICS_DAYS_MAX, routes } from '@svc/contracts';
import { type Binding, bind, type Clock, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';
import { listAppDays } from './queries.ts';

/** UTC days as `YYYY-MM-DD`, both included. */
interface DayRange {
  readonly from: string;
  readonly to: string;
}

const DAY_MS = 86_400_000;
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

export interface AnalyticsRoutesDeps {
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
