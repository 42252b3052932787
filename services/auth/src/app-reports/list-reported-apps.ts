import type { InspectedApp, ReportedApp } from '@svc/contracts';
import { type AppRecord, listAppsByIds } from '../apps/index.ts';
import type { Executor } from '../transact.ts';
import type { ReportSummary } from './app-report.ts';
import { listReportSummaries } from './queries.ts';

const APPS_MAX = 100;

/**
 * Lists the apps that users have reported, with the number of reports by reason. Deleted apps stay listed as long as
 * their reports are kept.
 */
export const listReportedApps = async (database: Executor): Promise<ReportedApp[]> => {
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

export const toInspectedApp = (app: AppRecord): InspectedApp => ({
  client_id: app.clientId,
  name: app.name,
  owner_user_id: app.ownerUserId,
  active: app.active,
  suspended_at: app.suspendedAt?.toISOString() ?? null,
});
