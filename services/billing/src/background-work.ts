import type { Consumer, Messaging } from '@svc/messaging';
import { type Lifecycle, type Logger, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import { startAccountDeletionConsumer } from './account-deletions.ts';
import type { App } from './app.ts';
import { pruneAuditLog } from './audit-log.ts';
import { HOLDER_SWEEP_INTERVAL_MS } from './gateway-processes.ts';
import { startUsageConsumer } from './reservations/index.ts';
import { startMembershipConsumer } from './seats/index.ts';

const PARTITION_INTERVAL_MS = 6 * 3_600_000;
const AUDIT_INTERVAL_MS = 6 * 3_600_000;

/** Starts the consumers and the periodic work of the service. Returns the consumers. */
export const startBackgroundWork = (
  life: Pick<Lifecycle, 'onStop'>,
  { settlement, seats, sweep, sweepHolders, paymentJobs }: App,
  {
    database,
    messaging,
    logger,
    sweepIntervalMs,
    keepPartitions,
  }: {
    readonly database: Knex;
    readonly messaging: Messaging;
    readonly logger: Logger;
    readonly sweepIntervalMs: number;
    /** Creates the partitions of the coming months and drops those past their retention. */
    readonly keepPartitions: () => Promise<void>;
  },
): Consumer[] => {
  const usage = startUsageConsumer({ ...settlement, messaging });
  life.onStop('usage consumer', () => usage.stop());
  const endings = startAccountDeletionConsumer({ database, messaging });
  life.onStop('consumer of account endings', () => endings.stop());
  const memberships = startMembershipConsumer({ ...seats, messaging });
  life.onStop('consumer of removed members', () => memberships.stop());
  const jobs = [
    { name: 'sweep', intervalMs: sweepIntervalMs, run: sweep },
    { name: 'partitions', intervalMs: PARTITION_INTERVAL_MS, run: keepPartitions },
    { name: 'audit log', intervalMs: AUDIT_INTERVAL_MS, run: () => pruneAuditLog(database) },
    { name: 'holders', intervalMs: HOLDER_SWEEP_INTERVAL_MS, run: sweepHolders },
    ...paymentJobs,
  ];
  for (const { name, intervalMs, run } of jobs) {
    const working = runPeriodically({ name, intervalMs, run, logger });
    life.onStop(name, () => working.stop());
  }
  return [usage, endings, memberships];
};
