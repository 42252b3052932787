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
    .select('client_id', 'user_id', 'reported_at', 'reason', 'comment');
  return rows.map((row) => camelKeys(row));
};

/** Sums the reports up by app, the last reported app first. */
export const listReportSummaries = async (executor: Executor, limit: number): Promise<ReportSummary[]> => {
  const { rows }: { rows: SnakeKeys<ReportSummary>[] } = await executor.raw(
    `SELECT client_id, max(last_at) AS last_reported_at, jsonb_object_agg(reason, reports) AS reasons,
       (SELECT count(DISTINCT user_id)::int FROM app_reports r WHERE r.client_id = by_reason.client_id) AS reporters
     FROM (SELECT client_id, reason, count(*)::int AS reports, max(reported_at) AS last_at
       FROM app_reports GROUP BY client_id, reason) AS by_reason
     GROUP BY client_id ORDER BY last_reported_at DESC, client_id LIMIT :limit`,
    { limit },
  );
  return rows.map((row) => camelKeys(row));
};

/** Removes at most `limit` reports older than an instant, and returns their number. */
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
