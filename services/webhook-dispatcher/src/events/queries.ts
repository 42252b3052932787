import type { Knex } from 'knex';
import { sqlColumn } from '../sql-array.ts';
import type { EventName, EventRecord, StoredStatus } from './event.ts';

/** What an attempt sends, and how many were made before it. */
export interface EventContent {
  readonly clientId: string;
  readonly sequence: number;
  readonly eventId: string;
  readonly event: EventName;
  readonly generation: number;
  readonly attempts: number;
  readonly attemptsInRound: number;
  readonly body: Buffer;
}

/** The columns of `EventContent`. */
export interface ContentRow {
  client_id: string;
  sequence: number;
  event_id: string;
  event: EventName;
  generation: number;
  attempts: number;
  attempts_in_round: number;
  body: Buffer;
}

/** Reads an event's content from its row. */
export const toContent = (row: ContentRow): EventContent => {
  return {
    clientId: row.client_id,
    sequence: row.sequence,
    eventId: row.event_id,
    event: row.event,
    generation: row.generation,
    attempts: row.attempts,
    attemptsInRound: row.attempts_in_round,
    body: row.body,
  };
};

/** Reads the queued events at these places. */
export const listQueuedContents = async (
  database: Knex,
  places: readonly { clientId: string; sequence: number }[],
): Promise<EventContent[]> => {
  const { rows } = await database.raw<{ rows: ContentRow[] }>(
    `SELECT client_id, sequence, event_id, event, generation, attempts, attempts_in_round, body
     FROM unnest(?::text[], ?::bigint[]) AS given (client_id, sequence) JOIN events USING (client_id, sequence)
     WHERE status = 'queued'`,
    [sqlColumn(places, ({ clientId }) => clientId), sqlColumn(places, ({ sequence }) => sequence)],
  );
  return rows.map(toContent);
};

/** Cancels what is open after this place: queued, or failed and blocking. */
export const cancelOpenEvents = async (
  trx: Knex.Transaction,
  clientId: string,
  afterSequence: number,
): Promise<void> => {
  await trx('events')
    .where({ client_id: clientId })
    .where('sequence', '>', afterSequence)
    .whereIn('status', ['queued', 'failed'])
    .update({ status: 'cancelled' });
};

/** The state and place of one of the app's events; undefined when it has no such event. */
export const findEventState = async (
  database: Knex,
  clientId: string,
  eventId: string,
): Promise<{ sequence: number; status: StoredStatus } | undefined> => {
  return await database('events').where({ client_id: clientId, event_id: eventId }).first('sequence', 'status');
};

/** Queues a failed event again with a fresh set of attempts, or marks it as skipped. */
export const updateRecoveredEvent = async (
  trx: Knex.Transaction,
  eventId: string,
  action: 'retry' | 'skip',
): Promise<void> => {
  const change = action === 'retry' ? { status: 'queued', attempts_in_round: 0 } : { status: 'skipped' };
  await trx('events').where({ event_id: eventId }).update(change);
};

/** The app's events, newest first, from below a place; each with its last attempt. */
export const listEventRecords = async (
  database: Knex,
  options: { clientId: string; belowSequence?: number | undefined; eventId?: string | undefined; limit: number },
): Promise<EventRecord[]> => {
  const { rows } = await database.raw<{ rows: RecordRow[] }>(
    `SELECT e.event_id, e.event, e.sequence, e.generation, e.attempts, e.created, e.delivered_at,
       CASE WHEN is_next AND l.leased_until > now() THEN 'delivering' ELSE e.status END AS status,
       CASE WHEN is_next AND (l.leased_until IS NULL OR l.leased_until <= now()) THEN l.due_at END AS next_attempt_at,
       a.at, a.status_code, a.error, a.duration_ms
     FROM events e
     LEFT JOIN lanes l USING (client_id)
     CROSS JOIN LATERAL (SELECT coalesce(e.status = 'queued' AND e.sequence = l.done_sequence + 1, false) AS is_next) n
     LEFT JOIN LATERAL (
       SELECT at, status_code, error, duration_ms FROM delivery_attempts d
       WHERE d.client_id = e.client_id AND d.sequence = e.sequence ORDER BY d.attempt DESC LIMIT 1
     ) a ON true
     WHERE e.client_id = :clientId AND e.sequence < :below::bigint AND (:eventId::text IS NULL OR e.event_id = :eventId)
     ORDER BY e.sequence DESC LIMIT :limit`,
    {
      clientId: options.clientId,
      below: options.belowSequence ?? Number.MAX_SAFE_INTEGER,
      eventId: options.eventId ?? null,
      limit: options.limit,
    },
  );
  return rows.map(toRecord);
};

/** Removes up to `limit` events that are done and were stored before this time, with their attempts; answers how many. */
export const deleteDoneEventsBefore = async (
  database: Knex,
  createdSeconds: number,
  limit: number,
): Promise<number> => {
  const { rows } = await database.raw<{ rows: { count: number }[] }>(
    `WITH done AS (
       SELECT client_id, sequence FROM events
       WHERE created < ? AND status IN ('delivered', 'skipped', 'cancelled') LIMIT ? FOR UPDATE SKIP LOCKED
     ), attempts AS (
       DELETE FROM delivery_attempts d USING done WHERE d.client_id = done.client_id AND d.sequence = done.sequence
     ), removed AS (
       DELETE FROM events e USING done WHERE e.client_id = done.client_id AND e.sequence = done.sequence RETURNING 1
     )
     SELECT count(*)::int AS count FROM removed`,
    [createdSeconds, limit],
  );
  return rows[0]?.count ?? 0;
};

/** Removes all events of an app, with their attempts. */
export const deleteEvents = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('delivery_attempts').where({ client_id: clientId }).delete();
  await trx('events').where({ client_id: clientId }).delete();
};

interface RecordRow {
  event_id: string;
  event: EventName;
  sequence: number;
  generation: number;
  status: EventRecord['status'];
  attempts: number;
  created: number;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  at: Date | null;
  status_code: number | null;
  error: string | null;
  duration_ms: number | null;
}

const toRecord = (row: RecordRow): EventRecord => {
  return {
    eventId: row.event_id,
    event: row.event,
    sequence: row.sequence,
    generation: row.generation,
    status: row.status,
    attempts: row.attempts,
    created: row.created,
    nextAttemptAt: row.next_attempt_at,
    deliveredAt: row.delivered_at,
    lastAttempt:
      row.at === null
        ? null
        : { at: row.at, statusCode: row.status_code, error: row.error, durationMs: row.duration_ms ?? 0 },
  };
};
