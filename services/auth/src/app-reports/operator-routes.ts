import { appOperations } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { findAppById, resumeApp, type SuspendAppDeps, suspendApp } from '../apps/index.ts';
import type { Executor } from '../transact.ts';
import { listReportedApps, toInspectedApp } from './list-reported-apps.ts';
import { closeReports, listReportsByApp } from './queries.ts';

export interface AppOperatorDeps extends SuspendAppDeps {
  readonly database: Executor;
}

const REPORTS_MAX = 100;

/** Binds the operator routes of reports and reported apps. */
export const appOperatorRoutes = (deps: AppOperatorDeps): Binding[] => [
  bind(appOperations.listReportedApps, async () => ({
    status: 200,
    body: { data: await listReportedApps(deps.database) },
  })),
  bind(appOperations.listAppReports, async ({ params }) => {
    const clientId = params.client_id;
    const reports = await listReportsByApp(deps.database, { clientId, limit: REPORTS_MAX });
    if (reports.length === 0 && (await findAppById(deps.database, clientId)) === undefined)
      throw new AppError('not_found');
    const data = reports.map(({ userId, reason, comment, reportedAt, closedAt }) => ({
      svc_user_id: userId,
      reason,
      comment,
      reported_at: reportedAt.toISOString(),
      closed_at: closedAt?.toISOString() ?? null,
    }));
    return { status: 200, body: { data } };
  }),
  bind(appOperations.closeAppReports, async ({ params }) => ({
    status: 200,
    body: { closed: await closeReports(deps.database, { clientId: params.client_id, now: deps.clock() }) },
  })),
  bind(appOperations.suspendApp, async ({ params }) => {
    const suspended = await suspendApp(deps, params.client_id);
    await closeReports(deps.database, { clientId: params.client_id, now: deps.clock() });
    return { status: 200, body: toInspectedApp(suspended) };
  }),
  bind(appOperations.resumeApp, async ({ params }) => ({
    status: 200,
    body: toInspectedApp(await resumeApp(deps, params.client_id)),
  })),
];
