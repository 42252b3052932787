import { pruneActs } from '@svc/database';
import { type Clock, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import { deleteReportsBefore, deleteUnusedDocumentedApps } from './apps/index.ts';
import { deleteAuditEntriesBefore, deleteGrantsExpiredBefore } from './connections/index.ts';
import { deleteDeniedFormsBefore } from './consent/index.ts';
import { deleteUnconfirmedTotpsBefore, deleteUsedChallengesExpiredBefore, UNCONFIRMED_MS } from './factors/index.ts';
import type { FailingItems } from './failing-items.ts';
import { deleteMailsBefore } from './mail/index.ts';
import { deleteMailedTokensExpiredBefore } from './mailed-tokens.ts';
import {
  deleteDeviceRequestsExpiredBefore,
  deleteExpiredRequestsAndProofs,
  deleteUnusedCodesBefore,
  UNUSED_CODE_KEPT_MS,
} from './oauth/index.ts';
import { deleteInvitationsExpiredBefore } from './organizations/index.ts';
import { deleteChallengesExpiredBefore, deleteSessionsExpiredBefore } from './sessions/index.ts';
import { deleteAttemptsBefore } from './throttling.ts';
import { DAY_MS, HOUR_MS, later, MINUTE_MS } from './time.ts';

const INTERVAL_MS = MINUTE_MS;
/** Rows per statement, so that none runs long. */
const BATCH = 1_000;
/** Statements per table and round: 10,000 rows for each second of the interval. The next round deletes the rest. */
const BATCHES_MAX = 600;

/** Time for which operators can see sent and failed mails. */
const MAILS_KEPT_MS = 7 * DAY_MS;
/** Time for which users can look back: more than a year, so that the same day last year is included. */
const AUDIT_KEPT_MS = 400 * DAY_MS;
/** Time for which operators can see repeated reports about an app, even after its deletion. */
const REPORTS_KEPT_MS = 400 * DAY_MS;

export interface HousekeepingDeps {
  readonly database: Knex;
  readonly clock: Clock;
  readonly items: FailingItems;
}

/** Deletes expired sessions, codes and grants with their tokens, and old attempts. */
export const tidyUp = async ({ database, clock, items }: HousekeepingDeps): Promise<void> => {
  const now = clock();
  const hourAgo = later(now, -HOUR_MS);
  const kinds = {
    sessions: () => deleteSessionsExpiredBefore(database, hourAgo, BATCH),
    challenges: () => deleteChallengesExpiredBefore(database, now, BATCH),
    used_challenges: () => deleteUsedChallengesExpiredBefore(database, hourAgo, BATCH),
    unconfirmed_totps: () => deleteUnconfirmedTotpsBefore(database, later(now, -UNCONFIRMED_MS), BATCH),
    attempts: () => deleteAttemptsBefore(database, hourAgo, BATCH),
    codes: () => deleteUnusedCodesBefore(database, later(now, -UNUSED_CODE_KEPT_MS), BATCH),
    grants: () => deleteGrantsExpiredBefore(database, hourAgo, BATCH),
    requests_and_proofs: () => deleteExpiredRequestsAndProofs(database, hourAgo, BATCH),
    device_codes: () => deleteDeviceRequestsExpiredBefore(database, hourAgo, BATCH),
    client_documents: () => deleteUnusedDocumentedApps(database, later(now, -DAY_MS), BATCH),
    denied_forms: () => deleteDeniedFormsBefore(database, hourAgo, BATCH),
    mailed_tokens: () => deleteMailedTokensExpiredBefore(database, hourAgo, BATCH),
    mails: () => deleteMailsBefore(database, later(now, -MAILS_KEPT_MS), BATCH),
    audit_entries: () => deleteAuditEntriesBefore(database, later(now, -AUDIT_KEPT_MS), BATCH),
    invitations: () => deleteInvitationsExpiredBefore(database, hourAgo, BATCH),
    acts: () => pruneActs(database, BATCH),
    reports: () => deleteReportsBefore(database, later(now, -REPORTS_KEPT_MS), BATCH),
  };
  for (const [kind, deleteBatch] of Object.entries(kinds)) {
    await items.attempt(async (claimed) => {
      claimed(kind);
      for (let batch = 0; batch < BATCHES_MAX && (await deleteBatch()) === BATCH; batch += 1);
    });
  }
};

/** Cleans up now and every minute. Replicas may do so concurrently. */
export const startHousekeeping = (deps: HousekeepingDeps & { readonly logger: Logger }): PeriodicWork =>
  runPeriodically({
    name: 'housekeeping',
    intervalMs: INTERVAL_MS,
    run: () => tidyUp(deps),
    logger: deps.logger,
  });
