import { type AppReportReason, appOperations, type InspectedApp, type ReportedApp, routes } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { AppError, type Binding, bind, type Clock } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { type AppRecord, findAppById, listAppsByIds } from './app-record.ts';
import { resumeApp, type SuspendAppDeps, suspendApp } from './update-app.ts';

/** A user's report about an app. It outlives the app, so it keeps the app's name and owner. */
interface AppReport {
  readonly clientId: string;
  readonly appName: string;
  readonly ownerUserId: string | null;
  readonly userId: string;
  readonly reportedAt: Date;
  readonly reason: AppReportReason;
  readonly comment: string | null;
  /** Set when an operator closes the report. */
  readonly closedAt: Date | null;
}

/** Reports about one app, summarized. */
interface ReportSummary {
  readonly clientId: string;
  /** Name at the time of the last report. */
  readonly appName: string;
  readonly ownerUserId: string | null;
  readonly open: number;
  readonly reporters: number;
  readonly reasons: Partial<Record<AppReportReason, number>>;
  readonly lastReportedAt: Date;
}

/** Stores a report, unless the user has reported the app on the same day (UTC). */
const insertReport = async (executor: Executor, report: AppReport): Promise<void> => {
  await executor('app_reports')
    .insert({ ...snakeKeys(report), reported_on: report.reportedAt.toISOString().slice(0, 10) })
    .onConflict(['client_id', 'user_id', 'reported_on'])
    .ignore();
};

/** Lists the reports about an app, newest first. */
const listReportsByApp = async (
  executor: Executor,
  { clientId, limit }: { clientId: string; limit: number },
): Promise<AppReport[]> => {
  const rows = await executor<SnakeKeys<AppReport>>('app_reports')
    .where({ client_id: clientId })
    .orderBy([{ column: 'reported_at', order: 'desc' }, 'user_id'])
    .limit(limit)
    .select('client_id', 'app_name', 'owner_user_id', 'user_id', 'reported_at', 'reason', 'comment', 'closed_at');
  return rows.map((row) => camelKeys(row));
};

/** Closes the open reports about an app, and returns their number. */
const closeReports = async (executor: Executor, { clientId, now }: { clientId: string; now: Date }): Promise<number> =>
  await executor('app_reports').where({ client_id: clientId }).whereNull('closed_at').update({ closed_at: now });

/** Counts the apps with open reports. */
export const countAppsWithOpenReports = async (executor: Executor): Promise<number> => {
  const row = await executor('app_reports')
    .whereNull('closed_at')
    .countDistinct<{ count: number }>('client_id as count')
    .first();
  return row?.count ?? 0;
};

/** Summarizes the reports by app: apps with open reports first, then by time of the last report. */
const listReportSummaries = async (executor: Executor, limit: number): Promise<ReportSummary[]> => {
  const { rows }: { rows: SnakeKeys<ReportSummary>[] } = await executor.raw(
    `SELECT by_app.*, last.app_name, last.owner_user_id FROM (
       SELECT client_id, max(last_at) AS last_reported_at, jsonb_object_agg(reason, reports) AS reasons, sum(open)::int AS open,
         (SELECT count(DISTINCT user_id)::int FROM app_reports r WHERE r.client_id = by_reason.client_id) AS reporters
       FROM (SELECT client_id, reason, count(*)::int AS reports, max(reported_at) AS last_at,
           (count(*) FILTER (WHERE closed_at IS NULL))::int AS open
         FROM app_reports GROUP BY client_id, reason) AS by_reason
       GROUP BY client_id ORDER BY (sum(open) > 0) DESC, last_reported_at DESC, client_id LIMIT :limit) AS by_app
     CROSS JOIN LATERAL (SELECT app_name, owner_user_id FROM app_reports r WHERE r.client_id = by_app.client_id
       ORDER BY reported_at DESC LIMIT 1) AS last
     ORDER BY (open > 0) DESC, last_reported_at DESC, client_id`,
    { limit },
  );
  return rows.map((row) => camelKeys(row));
};

/** Deletes at most `limit` reports older than the given time. Returns the number. */
export const deleteReportsBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('app_reports')
    .whereIn(
      ['client_id', 'user_id', 'reported_on'],
      executor('app_reports')
        .where('reported_at', '<', before)
        .limit(limit)
        .select('client_id', 'user_id', 'reported_on'),
    )
    .delete();

const APPS_MAX = 100;

/**
 * Lists the apps that users have reported, with the number of reports by reason. Deleted apps stay listed as long as
 * their reports are kept.
 */
const listReportedApps = async (database: Executor): Promise<ReportedApp[]> => {
  const summaries = await listReportSummaries(database, APPS_MAX);
  const apps = await listAppsByIds(
    database,
    summaries.map(({ clientId }) => clientId),
  );
  const byId = new Map(apps.map((app) => [app.clientId, app]));
  return summaries.map((summary) => ({
    ...describe(byId.get(summary.clientId), summary),
    open: summary.open,
    reporters: summary.reporters,
    reasons: summary.reasons,
    last_reported_at: summary.lastReportedAt.toISOString(),
  }));
};

const describe = (app: AppRecord | undefined, { clientId, appName, ownerUserId }: ReportSummary) => {
  if (app !== undefined) return { ...toInspectedApp(app), deleted: false };
  const gone = { active: false, suspended_at: null, deleted: true };
  return { client_id: clientId, name: appName, owner_user_id: ownerUserId, ...gone };
};

const toInspectedApp = (app: AppRecord): InspectedApp => ({
  client_id: app.clientId,
  name: app.name,
  owner_user_id: app.ownerUserId,
  active: app.active,
  suspended_at: app.suspendedAt?.toISOString() ?? null,
});

interface AppOperatorDeps extends SuspendAppDeps {
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

/** Stores a report about an app. Throws `not_found`. */
const reportApp = async (
  { database, clock }: { database: Executor; clock: Clock },
  report: Pick<AppReport, 'clientId' | 'userId' | 'reason' | 'comment'>,
): Promise<void> => {
  const app = await findAppById(database, report.clientId);
  if (app === undefined) throw new AppError('not_found');
  const { name: appName, ownerUserId } = app;
  await insertReport(database, { ...report, appName, ownerUserId, reportedAt: clock(), closedAt: null });
};

/** Binds the route for reporting an app. */
export const appReportRoutes = (deps: { database: Executor; clock: Clock }): Binding[] => [
  bind(routes.reportApp, async ({ params, body, caller }) => {
    const { reason, comment = null } = body;
    await reportApp(deps, { clientId: params.client_id, userId: caller.userId, reason, comment });
    return { status: 202 };
  }),
];
