import { routes } from '@svc/contracts';
import { type Binding, bind, type Clock } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { reportApp } from './report-app.ts';

/** Binds the route for reporting an app. */
export const appReportRoutes = (deps: { database: Executor; clock: Clock }): Binding[] => [
  bind(routes.reportApp, async ({ params, body, caller }) => {
    const { reason, comment = null } = body;
    await reportApp(deps, { clientId: params.client_id, userId: caller.userId, reason, comment });
    return { status: 202 };
  }),
];
