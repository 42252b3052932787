import type { WebhookEventRecord } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { contentColumns, type EventContent, type StoredStatus } from './event.ts';
import type { ClaimedLane } from './lane.ts';

type EventPlace = Pick<ClaimedLane, 'clientId' | 'sequence'>;
export type PlacedContent = EventContent & EventPlace & { readonly generation: number };

const placeColumns = recordColumns<EventPlace>({ clientId: 'client_id text', sequence: 'sequence bigint' });
const LIST_QUEUED_CONTENTS = {
  name: 'list_queued_contents',
  text: `SELECT ${placeColumns.select('e')}, e.generation, ${contentColumns.select('e')}
    FROM ${placeColumns.unnest('given')} JOIN events e USING (client_id, sequence) WHERE e.status = 'queued'`,
};

export const listQueuedContents = async (database: Knex, places: readonly EventPlace[]): Promise<PlacedContent[]> =>
  await runPrepared<PlacedContent>(database, LIST_QUEUED_CONTENTS, placeColumns.arrays(places));

/** Cancels the events after this sequence that are queued, or failed and blocking. */
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

export const findEventState = async (
  database: Knex,
  clientId: string,
  eventId: string,
): Promise<{ sequence: number; status: StoredStatus } | undefined> =>
  await database('events').where({ client_id: clientId, event_id: eventId }).first('sequence', 'status');

/** Queues a failed event again with a new round of attempts, or marks it as skipped. */
export const updateRecoveredEvent = async (
  trx: Knex.Transaction,
  eventId: string,
  action: 'retry' | 'skip',
): Promise<void> => {
  const change = action === 'retry' ? { status: 'queued', attempts_in_round: 0 } : { status: 'skipped' };
  await trx('events').where({ event_id: eventId }).update(change);
};

/** An event with its last attempt, as the query returns it. */
interface RecordRow {
  readonly event_id: string;
  readonly event: WebhookEventRecord['event'];
  readonly sequence: number;
  readonly generation: number;
  readonly status: WebhookEventRecord['status'];
  readonly attempts: number;
  readonly created: number;
  readonly next_attempt_at: Date | null;
  readonly delivered_at: Date | null;
  readonly at: Date | null;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly duration_ms: number | null;
}

const RECORD_EXPRESSIONS: Readonly<Record<keyof RecordRow, string>> = {
  event_id: 'e.event_id',
  event: 'e.event',
  sequence: 'e.sequence',
  generation: 'e.generation',
  status: `CASE WHEN is_next AND l.leased_until > now() THEN 'delivering' ELSE e.status END`,
  attempts: 'e.attempts',
  created: 'e.created',
  next_attempt_at: 'CASE WHEN is_next AND (l.leased_until IS NULL OR l.leased_until <= now()) THEN l.due_at END',
  delivered_at: 'e.delivered_at',
  at: 'a.at',
  status_code: 'a.status_code',
  error: 'a.error',
  duration_ms: 'a.duration_ms',
};
const RECORD_COLUMNS = Object.entries(RECORD_EXPRESSIONS).map(([name, expression]) => `${expression} AS ${name}`);

export interface EventFilter {
  readonly clientId: string;
  readonly belowSequence?: number | undefined;
  readonly eventId?: string | undefined;
  readonly limit: number;
}

/** Returns the app's events with their last attempts, newest first. */
export const listEventRecords = async (database: Knex, filter: EventFilter): Promise<WebhookEventRecord[]> => {
  const { rows } = await database.raw<{ rows: RecordRow[] }>(
    `SELECT ${RECORD_COLUMNS.join(', ')}
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
      clientId: filter.clientId,
      below: filter.belowSequence ?? Number.MAX_SAFE_INTEGER,
      eventId: filter.eventId ?? null,
      limit: filter.limit,
    },
  );
  return rows.map(toRecord);
};

const toRecord = (row: RecordRow): WebhookEventRecord => {
  const { at, status_code, error, duration_ms, next_attempt_at, delivered_at, ...fields } = row;
  return {
    ...fields,
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    delivered_at: delivered_at?.toISOString() ?? null,
    last_attempt: at === null ? null : { at: at.toISOString(), status_code, error, duration_ms: duration_ms ?? 0 },
  };
};

const DELETE_DONE_EVENTS = `WITH done AS (
    SELECT client_id, sequence FROM events
    WHERE created < ? AND status IN ('delivered', 'skipped', 'cancelled') LIMIT ? FOR UPDATE SKIP LOCKED
  ), attempts AS (
    DELETE FROM delivery_attempts d USING done WHERE d.client_id = done.client_id AND d.sequence = done.sequence
  ), removed AS (
    DELETE FROM events e USING done WHERE e.client_id = done.client_id AND e.sequence = done.sequence RETURNING 1
  )
  SELECT count(*)::int AS count FROM removed`;

/** Deletes up to `limit` done events stored before this time, with their attempts, and returns their number. */
export const deleteDoneEventsBefore = async (
  database: Knex,
  createdSeconds: number,
  limit: number,
): Promise<number> => {
  const { rows } = await database.raw<{ rows: { count: number }[] }>(DELETE_DONE_EVENTS, [createdSeconds, limit]);
  return rows[0]?.count ?? 0;
};

export const deleteEvents = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('delivery_attempts').where({ client_id: clientId }).delete();
  await trx('events').where({ client_id: clientId }).delete();
};
