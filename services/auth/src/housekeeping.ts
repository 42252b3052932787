import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import { deleteReportsBefore } from './app-reports/index.ts';
import { deleteAuditEntriesBefore, deleteGrantsExpiredBefore } from './connections/index.ts';
import { deleteDeniedFormsBefore } from './consent/index.ts';
import { deleteUnconfirmedTotpsBefore, deleteUsedChallengesExpiredBefore, UNCONFIRMED_MS } from './factors/index.ts';
import { deleteMailsBefore } from './mail/index.ts';
import { deleteMailedTokensExpiredBefore } from './mailed-tokens/index.ts';
import {
  deleteExpiredRequestsAndProofs,
  deleteRefreshTokensExpiredBefore,
  deleteUnusedCodesBefore,
  UNUSED_CODE_KEPT_MS,
} from './oidc/index.ts';
import { deleteChallengesExpiredBefore, deleteSessionsExpiredBefore } from './sessions/index.ts';
import { deleteAttemptsBefore } from './throttling/index.ts';
import { DAY_MS, HOUR_MS, later, MINUTE_MS } from './time.ts';
import type { Executor } from './transact.ts';

const INTERVAL_MS = 5 * MINUTE_MS;
/** Rows per statement, so that none runs long. */
const BATCH = 1_000;
/** Statements per table and round. The next round deletes the rest. */
const BATCHES_MAX = 50;

/** Time for which operators can see sent and failed mails. */
const MAILS_KEPT_MS = 7 * DAY_MS;
/** Time for which users can look back: more than a year, so that the same day last year is included. */
const AUDIT_KEPT_MS = 400 * DAY_MS;
/** Time for which operators can see repeated reports about an app, even after its deletion. */
const REPORTS_KEPT_MS = 400 * DAY_MS;

export interface HousekeepingDeps {
  readonly database: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Deletes expired sessions, tokens, codes and grants, and old attempts. */
export const tidyUp = async ({ database, clock }: HousekeepingDeps): Promise<void> => {
  const now = clock();
  const hourAgo = later(now, -HOUR_MS);
  const kinds = [
    () => deleteSessionsExpiredBefore(database, hourAgo, BATCH),
    () => deleteChallengesExpiredBefore(database, now, BATCH),
    () => deleteUsedChallengesExpiredBefore(database, hourAgo, BATCH),
    () => deleteUnconfirmedTotpsBefore(database, later(now, -UNCONFIRMED_MS), BATCH),
    () => deleteAttemptsBefore(database, hourAgo, BATCH),
    () => deleteUnusedCodesBefore(database, later(now, -UNUSED_CODE_KEPT_MS), BATCH),
    () => deleteRefreshTokensExpiredBefore(database, hourAgo, BATCH),
    () => deleteGrantsExpiredBefore(database, hourAgo, BATCH),
    () => deleteExpiredRequestsAndProofs(database, hourAgo, BATCH),
    () => deleteDeniedFormsBefore(database, hourAgo, BATCH),
    () => deleteMailedTokensExpiredBefore(database, hourAgo, BATCH),
    () => deleteMailsBefore(database, later(now, -MAILS_KEPT_MS), BATCH),
    () => deleteAuditEntriesBefore(database, later(now, -AUDIT_KEPT_MS), BATCH),
    () => deleteReportsBefore(database, later(now, -REPORTS_KEPT_MS), BATCH),
  ];
  for (const deleteBatch of kinds) {
    for (let batch = 0; batch < BATCHES_MAX && (await deleteBatch()) === BATCH; batch += 1);
  }
};

/** Cleans up now and every five minutes. Replicas may do so concurrently. */
export const startHousekeeping = (deps: HousekeepingDeps): PeriodicWork =>
  runPeriodically({
    name: 'housekeeping',
    intervalMs: INTERVAL_MS,
    run: () => tidyUp(deps),
    logger: deps.logger,
  });
