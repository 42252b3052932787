import { AppError, type Clock } from '@svc/service-kit';
import { findAppById } from '../apps/index.ts';
import type { Executor } from '../transact.ts';
import type { AppReport } from './app-report.ts';
import { insertReport } from './queries.ts';

/** Stores a report about an app. Throws `not_found`. */
export const reportApp = async (
  { database, clock }: { database: Executor; clock: Clock },
  report: Pick<AppReport, 'clientId' | 'userId' | 'reason' | 'comment'>,
): Promise<void> => {
  const app = await findAppById(database, report.clientId);
  if (app === undefined) throw new AppError('not_found');
  const { name: appName, ownerUserId } = app;
  await insertReport(database, { ...report, appName, ownerUserId, reportedAt: clock(), closedAt: null });
};
