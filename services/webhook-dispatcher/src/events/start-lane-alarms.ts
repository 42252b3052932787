import type { WebhookNotice } from '@svc/contracts';
import { type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import {
  closeLaneAlarms,
  type LaneAlarm,
  lockLaneAlarm,
  openLaneAlarms,
  settleLaneAlarm,
} from './lane-alarm-queries.ts';

export interface LaneAlarmDeps {
  readonly database: Knex;
  readonly logger: Logger;
  /** Mails the owner of an app. Returns normally if the app is gone. */
  readonly mailOwner: (clientId: string, notice: WebhookNotice) => Promise<void>;
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
    after = alarm.clientId;
  }
  if (failures.length > 0) throw failures[0];
};

/** Returns the app whose owner was due, with the failure if the mail is still due; undefined if none is left. */
const mailNext = (
  { database, mailOwner }: Pick<LaneAlarmDeps, 'database' | 'mailOwner'>,
  after: string,
): Promise<{ readonly clientId: string; readonly failure?: unknown } | undefined> =>
  database.transaction(async (trx) => {
    const alarm = await lockLaneAlarm(trx, after);
    if (alarm === undefined) return undefined;
    const { clientId } = alarm;
    try {
      await mailOwner(clientId, toNotice(alarm));
    } catch (failure) {
      return { clientId, failure };
    }
    await settleLaneAlarm(trx, alarm);
    return { clientId };
  });

const toNotice = ({ change, eventId, event, lastAttemptAt }: LaneAlarm): WebhookNotice => ({
  change,
  event_id: eventId,
  event,
  last_attempt_at: lastAttemptAt.toISOString(),
});
