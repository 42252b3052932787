import { type AppTerms, internalRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type AppStanding, describeBudget } from './app-budget.ts';
import { findAppStanding, listAppStandings, setAppBudget } from './queries.ts';

export interface AppBudgetRoutesDeps {
  readonly database: Knex;
  readonly currency: string;
}

/** Binds the internal routes by which auth reads and sets the terms of apps. */
export const appBudgetRoutes = ({ database, currency }: AppBudgetRoutesDeps): readonly Binding[] => {
  const toTerms = (standing: AppStanding): AppTerms => ({
    paused: standing.isPaused,
    budget: describeBudget(standing, currency),
  });
  return [
    bind(internalRoutes.changeAppTerms, async ({ params, body }) => {
      const app = { userId: params.svc_user_id, clientId: params.client_id };
      await setAppBudget(database, app, body);
      return { status: 200, body: toTerms(await findAppStanding(database, app)) };
    }),
    bind(internalRoutes.listAppTerms, async ({ params }) => {
      const standings = await listAppStandings(database, params.svc_user_id);
      const data = standings.map((standing) => ({ client_id: standing.clientId, ...toTerms(standing) }));
      return { status: 200, body: { data } };
    }),
  ];
};
