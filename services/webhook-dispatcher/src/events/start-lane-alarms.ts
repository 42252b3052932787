import type { WebhookNotice } from '@svc/contracts';
import { type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';

/** A change of a lane that its owner is to be mailed about. */
interface LaneAlarm {
  readonly ownerId: string;
  readonly sequence: number;
  readonly attempts: number;
  readonly change: WebhookNotice['change'];
  readonly eventId: string;
  readonly event: string;
  readonly lastAttemptAt: Date;
}

/** Longer than auth may take to queue a mail. */
const CLAIM_SECONDS = 30;
const UNCLAIMED = '(a.claimed_until IS NULL OR a.claimed_until < now())';

/** Opens alarms for lanes that have blocked. */
const openLaneAlarms = async (database: Knex): Promise<void> => {
  await database.raw(
    `INSERT INTO lane_alarms AS a (owner_id, sequence, attempts, change)
     SELECT l.owner_id, l.blocked_sequence, e.attempts, 'blocked'
     FROM lanes l JOIN events e ON e.owner_id = l.owner_id AND e.sequence = l.blocked_sequence
     LEFT JOIN lane_alarms known ON known.owner_id = l.owner_id
     WHERE l.blocked_sequence IS NOT NULL
       AND (known.sequence, known.attempts) IS DISTINCT FROM (l.blocked_sequence, e.attempts)
     ON CONFLICT (owner_id) DO UPDATE
       SET sequence = excluded.sequence, attempts = excluded.attempts, change = 'blocked', is_mailed = false,
         claimed_until = NULL`,
  );
};

/**
 * Marks alarms as recovered whose lanes have delivered an event since. Drops them if their owner was not mailed yet; a
 * claimed alarm may have been, and waits.
 */
const closeLaneAlarms = async (database: Knex): Promise<void> => {
  const recovered = `EXISTS (SELECT FROM lanes l WHERE l.owner_id = a.owner_id AND l.blocked_sequence IS NULL)
    AND EXISTS (
      SELECT FROM events e WHERE e.owner_id = a.owner_id AND e.sequence >= a.sequence AND e.status = 'delivered')`;
  await database.raw(
    `DELETE FROM lane_alarms a WHERE a.change <> 'recovered' AND NOT a.is_mailed AND ${UNCLAIMED} AND ${recovered}`,
  );
  await database.raw(
    `UPDATE lane_alarms a SET change = 'recovered', is_mailed = false
     WHERE a.change <> 'recovered' AND a.is_mailed AND ${recovered}`,
  );
};

/**
 * Claims the next alarm to mail, ordered by owner, after the given one. Replicas pass over each other's. A claim ends by
 * itself after the death of its worker.
 */
const claimLaneAlarm = async (database: Knex, after: string): Promise<LaneAlarm | undefined> => {
  const { rows } = await database.raw<{ rows: LaneAlarm[] }>(
    `UPDATE lane_alarms c SET claimed_until = now() + make_interval(secs => ${CLAIM_SECONDS})
     FROM (
       SELECT a.owner_id FROM lane_alarms a JOIN events e USING (owner_id, sequence)
       WHERE NOT a.is_mailed AND ${UNCLAIMED} AND a.owner_id > ? ORDER BY a.owner_id LIMIT 1 FOR UPDATE OF a SKIP LOCKED
     ) next, events e
     WHERE c.owner_id = next.owner_id AND e.owner_id = c.owner_id AND e.sequence = c.sequence
     RETURNING c.owner_id AS "ownerId", c.sequence, c.attempts, c.change, e.event_id AS "eventId", e.event,
       coalesce((SELECT max(at) FROM delivery_attempts d WHERE d.owner_id = c.owner_id AND d.sequence = c.sequence),
         to_timestamp(e.created)) AS "lastAttemptAt"`,
    [after],
  );
  return rows[0];
};

/** Ends the claim of an alarm whose mail is still due. */
const releaseLaneAlarm = async (database: Knex, alarm: LaneAlarm): Promise<void> => {
  await sameAlarm(database, alarm).update({ claimed_until: null });
};

/** Marks a claimed alarm as mailed, unless its lane has blocked again meanwhile. Nothing follows a recovery. */
const settleLaneAlarm = async (database: Knex, alarm: LaneAlarm): Promise<void> => {
  const same = sameAlarm(database, alarm);
  await (alarm.change === 'recovered' ? same.delete() : same.update({ is_mailed: true, claimed_until: null }));
};

const sameAlarm = (database: Knex, { ownerId, sequence, attempts, change }: LaneAlarm) =>
  database('lane_alarms').where({ owner_id: ownerId, sequence, attempts, change });

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
