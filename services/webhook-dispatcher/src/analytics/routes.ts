import { routes } from '@svc/contracts';
import { type Binding, bind, type Clock } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';
import { listAppDays } from './queries.ts';
import { readRange } from './read-range.ts';

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
