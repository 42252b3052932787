import { appOperations } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { findAppById, resumeApp, type SuspendAppDeps, suspendApp } from '../apps/index.ts';
import type { Executor } from '../transact.ts';
import { listReportedApps, toInspectedApp } from './list-reported-apps.ts';
import { listReportsByApp } from './queries.ts';

export interface AppOperatorDeps extends SuspendAppDeps {
  readonly database: Executor;
}

const REPORTS_MAX = 100;

/** Serves the operator's commands on reports and reported apps. */
export const appOperatorRoutes = (deps: AppOperatorDeps): Binding[] => [
  bind(appOperations.listReportedApps, async () => ({
    status: 200,
    body: { data: await listReportedApps(deps.database) },
  })),
  bind(appOperations.listAppReports, async ({ params }) => {
    const clientId = params.client_id;
    if ((await findAppById(deps.database, clientId)) === undefined) throw new AppError('not_found');
    const reports = await listReportsByApp(deps.database, { clientId, limit: REPORTS_MAX });
    const data = reports.map(({ userId, reason, comment, reportedAt }) => ({
      svc_user_id: userId,
      reason,
      comment,
      reported_at: reportedAt.toISOString(),
    }));
    return { status: 200, body: { data } };
  }),
  bind(appOperations.suspendApp, async ({ params }) => ({
    status: 200,
    body: toInspectedApp(await suspendApp(deps, params.client_id)),
  })),
  bind(appOperations.resumeApp, async ({ params }) => ({
    status: 200,
    body: toInspectedApp(await resumeApp(deps, params.client_id)),
  })),
];
