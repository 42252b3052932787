import type { appOperations, InspectedApp } from '@svc/contracts';
import type { z } from 'zod';
import { type AppRecord, listAppsByIds } from '../apps/index.ts';
import type { Executor } from '../transact.ts';
import { listReportSummaries } from './queries.ts';

const APPS_MAX = 100;

type ReportedApp = z.infer<(typeof appOperations.listReportedApps.responses)[200]['schema']>['data'][number];

/** Lists the apps that users have reported, with the number of reports by reason. */
export const listReportedApps = async (database: Executor): Promise<ReportedApp[]> => {
  const summaries = await listReportSummaries(database, APPS_MAX);
  const apps = await listAppsByIds(
    database,
    summaries.map(({ clientId }) => clientId),
  );
  const byId = new Map(apps.map((app) => [app.clientId, app]));
  return summaries.flatMap(({ clientId, reporters, reasons, lastReportedAt }) => {
    const app = byId.get(clientId);
    if (app === undefined) return [];
    return [{ ...toInspectedApp(app), reporters, reasons, last_reported_at: lastReportedAt.toISOString() }];
  });
};

export const toInspectedApp = (app: AppRecord): InspectedApp => ({
  client_id: app.clientId,
  name: app.name,
  owner_user_id: app.ownerUserId,
  active: app.active,
  suspended_at: app.suspendedAt?.toISOString() ?? null,
});
