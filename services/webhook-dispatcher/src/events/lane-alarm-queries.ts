import type { WebhookNotice } from '@svc/contracts';
import type { Knex } from 'knex';

/** A change of a lane that its owner is to be mailed about. */
export interface LaneAlarm {
  readonly clientId: string;
  readonly change: WebhookNotice['change'];
  readonly eventId: string;
  readonly event: string;
  readonly lastAttemptAt: Date;
}

/** Opens alarms for lanes that have blocked. */
export const openLaneAlarms = async (database: Knex): Promise<void> => {
  await database.raw(
    `INSERT INTO lane_alarms AS a (client_id, sequence, attempts, change)
     SELECT l.client_id, l.blocked_sequence, e.attempts, 'blocked'
     FROM lanes l JOIN events e ON e.client_id = l.client_id AND e.sequence = l.blocked_sequence
     LEFT JOIN lane_alarms known ON known.client_id = l.client_id
     WHERE l.blocked_sequence IS NOT NULL
       AND (known.sequence, known.attempts) IS DISTINCT FROM (l.blocked_sequence, e.attempts)
     ON CONFLICT (client_id) DO UPDATE
       SET sequence = excluded.sequence, attempts = excluded.attempts, change = 'blocked', is_mailed = false`,
  );
};

/** Marks alarms as recovered whose lanes have delivered an event since. Drops them if their owner was not mailed yet. */
export const closeLaneAlarms = async (database: Knex): Promise<void> => {
  const recovered = `EXISTS (SELECT FROM lanes l WHERE l.client_id = a.client_id AND l.blocked_sequence IS NULL)
    AND EXISTS (
      SELECT FROM events e WHERE e.client_id = a.client_id AND e.sequence >= a.sequence AND e.status = 'delivered')`;
  await database.raw(`DELETE FROM lane_alarms a WHERE a.change = 'blocked' AND NOT a.is_mailed AND ${recovered}`);
  await database.raw(
    `UPDATE lane_alarms a SET change = 'recovered', is_mailed = false
     WHERE a.change = 'blocked' AND a.is_mailed AND ${recovered}`,
  );
};

/** Locks the next alarm to mail, ordered by app, after the given one. Replicas pass over each other's. */
export const lockLaneAlarm = async (trx: Knex.Transaction, after: string): Promise<LaneAlarm | undefined> => {
  const { rows } = await trx.raw<{ rows: LaneAlarm[] }>(
    `SELECT a.client_id AS "clientId", a.change, e.event_id AS "eventId", e.event,
       (SELECT max(at) FROM delivery_attempts d WHERE d.client_id = a.client_id AND d.sequence = a.sequence) AS "lastAttemptAt"
     FROM lane_alarms a JOIN events e USING (client_id, sequence)
     WHERE NOT a.is_mailed AND a.client_id > ? ORDER BY a.client_id LIMIT 1 FOR UPDATE OF a SKIP LOCKED`,
    [after],
  );
  return rows[0];
};

/** Marks a locked alarm as mailed. Nothing follows a recovery. */
export const settleLaneAlarm = async (trx: Knex.Transaction, { clientId, change }: LaneAlarm): Promise<void> => {
  const alarm = trx('lane_alarms').where({ client_id: clientId });
  await (change === 'recovered' ? alarm.delete() : alarm.update({ is_mailed: true }));
};
