import { AppError, type Clock } from '@svc/service-kit';
import { findAppById } from '../apps/index.ts';
import type { Executor } from '../transact.ts';
import type { AppReport } from './app-report.ts';
import { insertReport } from './queries.ts';

/** Stores a report about an app. Throws `not_found`. */
export const reportApp = async (
  { database, clock }: { database: Executor; clock: Clock },
  report: Omit<AppReport, 'reportedAt'>,
): Promise<void> => {
  if ((await findAppById(database, report.clientId)) === undefined) throw new AppError('not_found');
  await insertReport(database, { ...report, reportedAt: clock() });
};
