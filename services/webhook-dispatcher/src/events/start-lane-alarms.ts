import type { WebhookNotice } from '@svc/contracts';
import { type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import {
  claimLaneAlarm,
  closeLaneAlarms,
  type LaneAlarm,
  openLaneAlarms,
  releaseLaneAlarm,
  settleLaneAlarm,
} from './lane-alarm-queries.ts';

export interface LaneAlarmDeps {
  readonly database: Knex;
  readonly logger: Logger;
  /** Mails the owner of a lane. Returns normally if the app or account is gone. */
  readonly mailOwner: (ownerId: string, notice: WebhookNotice) => Promise<void>;
}

const INTERVAL_MS = 15_000;
/** Ends a run: auth is away then. */
const FAILURES_MAX = 3;

/** Mails owners whose lanes have blocked, or deliver again. Auth recognizes the repetition after a crash. */
export const startLaneAlarms = (deps: LaneAlarmDeps): PeriodicWork =>
  runPeriodically({
    name: 'lane alarms',
    intervalMs: INTERVAL_MS,
    run: (signal) => mailLaneAlarms(deps, signal),
    logger: deps.logger,
  });

/** Mails all owners who are due. A failed mail delays no other one. Throws the first failure, kind `unavailable`. */
export const mailLaneAlarms = async (
  deps: Pick<LaneAlarmDeps, 'database' | 'mailOwner'>,
  signal: AbortSignal,
): Promise<void> => {
  await closeLaneAlarms(deps.database);
  await openLaneAlarms(deps.database);
  const failures: unknown[] = [];
  for (let after = ''; !signal.aborted && failures.length < FAILURES_MAX; ) {
    const alarm = await mailNext(deps, after);
    if (alarm === undefined) break;
    if (alarm.failure !== undefined) failures.push(alarm.failure);
    after = alarm.ownerId;
  }
  if (failures.length > 0) throw failures[0];
};

/**
 * Mails the next owner, without a transaction that would wait for auth. Returns the owner, with the failure if the mail is
 * still due; undefined if no owner is left.
 */
const mailNext = async (
  { database, mailOwner }: Pick<LaneAlarmDeps, 'database' | 'mailOwner'>,
  after: string,
): Promise<{ readonly ownerId: string; readonly failure?: unknown } | undefined> => {
  const alarm = await claimLaneAlarm(database, after);
  if (alarm === undefined) return undefined;
  const { ownerId } = alarm;
  try {
    await mailOwner(ownerId, toNotice(alarm));
  } catch (failure) {
    await releaseLaneAlarm(database, alarm);
    return { ownerId, failure };
  }
  await settleLaneAlarm(database, alarm);
  return { ownerId };
};

const toNotice = ({ change, eventId, event, lastAttemptAt }: LaneAlarm): WebhookNotice => ({
  change,
  event_id: eventId,
  event,
  last_attempt_at: lastAttemptAt.toISOString(),
});
