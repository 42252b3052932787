import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor } from '../transact.ts';
import type { AppReport, ReportSummary } from './app-report.ts';

/** Stores a report, unless the user has reported the app on the same day (UTC). */
export const insertReport = async (executor: Executor, report: AppReport): Promise<void> => {
  await executor('app_reports')
    .insert({ ...snakeKeys(report), reported_on: report.reportedAt.toISOString().slice(0, 10) })
    .onConflict(['client_id', 'user_id', 'reported_on'])
    .ignore();
};

/** Lists the reports about an app, newest first. */
export const listReportsByApp = async (
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
export const closeReports = async (
  executor: Executor,
  { clientId, now }: { clientId: string; now: Date },
): Promise<number> =>
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
export const listReportSummaries = async (executor: Executor, limit: number): Promise<ReportSummary[]> => {
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
