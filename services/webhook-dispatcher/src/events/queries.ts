import type { OwnWebhookEvent, WebhookEventDetail, WebhookEventRecord, WebhookEventStatus } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import { contentColumns, type EventContent, type EventName, type EventStatus } from './event.ts';
import type { ClaimedLane } from './lanes.ts';

type EventPlace = Pick<ClaimedLane, 'ownerId' | 'sequence'>;
export type PlacedContent = EventContent & EventPlace & { readonly generation: number };

/**
 * Status of an event `e` with its lane `l`. A new generation cancels what is open by its number alone, so that it takes no longer
 * the more events wait.
 */
export const EVENT_STATUS = `CASE WHEN e.status IN ('queued', 'failed') AND e.generation < l.generation
  THEN 'cancelled' ELSE e.status END`;

const placeColumns = recordColumns<EventPlace>({ ownerId: 'owner_id text', sequence: 'sequence bigint' });
const LIST_QUEUED_CONTENTS = {
  name: 'list_queued_contents',
  text: `SELECT ${placeColumns.select('e')}, e.generation, ${contentColumns.select('e')}
    FROM ${placeColumns.unnest('given')} JOIN events e USING (owner_id, sequence)
    JOIN lanes l USING (owner_id) WHERE e.status = 'queued' AND e.generation = l.generation`,
};

export const listQueuedContents = async (database: Knex, places: readonly EventPlace[]): Promise<PlacedContent[]> =>
  await runPrepared<PlacedContent>(database, LIST_QUEUED_CONTENTS, placeColumns.arrays(places));

export const findEventState = async (
  database: Knex,
  ownerId: string,
  eventId: string,
): Promise<{ sequence: number; status: EventStatus } | undefined> =>
  await database('events AS e')
    .leftJoin('lanes AS l', 'l.owner_id', 'e.owner_id')
    .where({ 'e.owner_id': ownerId, 'e.event_id': eventId })
    .first('e.sequence', database.raw(`${EVENT_STATUS} AS status`));

/** Queues a failed event again with a new round of attempts, or marks it as skipped. */
export const updateRecoveredEvent = async (
  trx: Knex.Transaction,
  eventId: string,
  action: 'retry' | 'skip',
): Promise<void> => {
  const change = action === 'retry' ? { status: 'queued', attempts_in_round: 0 } : { status: 'skipped' };
  await trx('events').where({ event_id: eventId }).update(change);
};

/** A stored event of one kind of owner. */
export type EventRecord<Name extends EventName> = Omit<WebhookEventRecord, 'event'> & { readonly event: Name };

/** An event with its last attempt, as the query returns it. */
interface RecordRow<Name extends EventName = EventName> {
  readonly event_id: string;
  readonly event: Name;
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
  status: `CASE WHEN is_next AND l.leased_until > now() THEN 'delivering' ELSE ${EVENT_STATUS} END`,
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
  readonly ownerId: string;
  readonly aboveSequence?: number | undefined;
  readonly belowSequence?: number | undefined;
  readonly eventId?: string | undefined;
  readonly event?: string | undefined;
  readonly status?: WebhookEventStatus | undefined;
  readonly limit: number;
}

/**
 * Returns the owner's events with their last attempts, newest first. Only events that are not done are queued, and only the first
 * of them is failed or being delivered, so a page of these does not read the others.
 */
export const listEventRecords = async <Name extends EventName>(
  database: Knex,
  filter: EventFilter,
): Promise<EventRecord<Name>[]> => {
  // A lane holds events of its kind of owner only.
  const { rows } = await database.raw<{ rows: RecordRow<Name>[] }>(
    `SELECT ${RECORD_COLUMNS.join(', ')}
     FROM events e
     LEFT JOIN lanes l USING (owner_id)
     CROSS JOIN LATERAL (SELECT coalesce(e.status = 'queued' AND e.sequence = l.done_sequence + 1, false) AS is_next) n
     LEFT JOIN LATERAL (
       SELECT at, status_code, error, duration_ms FROM delivery_attempts d
       WHERE d.owner_id = e.owner_id AND d.sequence = e.sequence ORDER BY d.attempt DESC LIMIT 1
     ) a ON true
     WHERE e.owner_id = :ownerId
       AND e.sequence > greatest(:above::bigint, (
         SELECT done_sequence FROM lanes
         WHERE owner_id = :ownerId AND :status::text IN ('queued', 'failed', 'delivering')))
       AND e.sequence < least(:below::bigint, (
         SELECT done_sequence + 2 FROM lanes WHERE owner_id = :ownerId AND :status::text IN ('failed', 'delivering')))
       AND (:eventId::text IS NULL OR e.event_id = :eventId)
       AND (:event::text IS NULL OR e.event = :event)
       AND (:status::text IS NULL OR ${RECORD_EXPRESSIONS.status} = :status)
     ORDER BY e.sequence DESC LIMIT :limit`,
    {
      ownerId: filter.ownerId,
      above: filter.aboveSequence ?? 0,
      below: filter.belowSequence ?? Number.MAX_SAFE_INTEGER,
      eventId: filter.eventId ?? null,
      event: filter.event ?? null,
      status: filter.status ?? null,
      limit: filter.limit,
    },
  );
  return rows.map((row) => toRecord(row));
};

const toRecord = <Name extends EventName>(row: RecordRow<Name>): EventRecord<Name> => {
  const { at, status_code, error, duration_ms, next_attempt_at, delivered_at, ...fields } = row;
  return {
    ...fields,
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    delivered_at: delivered_at?.toISOString() ?? null,
    last_attempt: at === null ? null : { at: at.toISOString(), status_code, error, duration_ms: duration_ms ?? 0 },
  };
};

export const findEventBody = async (database: Knex, ownerId: string, eventId: string): Promise<Buffer | undefined> => {
  const row = await database('events')
    .where({ owner_id: ownerId, event_id: eventId })
    .first<{ body: Buffer } | undefined>('body');
  return row?.body;
};

/** Lists the attempts of an event, oldest first. */
export const listAttempts = async (
  database: Knex,
  ownerId: string,
  sequence: number,
): Promise<WebhookEventDetail['attempt_log']> => {
  const rows = await database('delivery_attempts')
    .where({ owner_id: ownerId, sequence })
    .orderBy('attempt')
    .select<{ at: Date; status_code: number | null; error: string | null; duration_ms: number }[]>(
      ...['at', 'status_code', 'error', 'duration_ms'],
    );
  return rows.map(({ at, ...attempt }) => ({ at: at.toISOString(), ...attempt }));
};

/** Lists the owner's events behind a sequence with their bodies, ascending. */
export const listEventBodies = async (
  database: Knex,
  { ownerId, afterSequence, limit }: { ownerId: string; afterSequence: number; limit: number },
): Promise<OwnWebhookEvent[]> => {
  const { rows } = await database.raw<{ rows: OwnWebhookEvent[] }>(
    `SELECT e.event_id, e.event, e.sequence, e.generation, e.created,
       ${RECORD_EXPRESSIONS.status} AS status, convert_from(e.body, 'UTF8') AS payload
     FROM events e
     LEFT JOIN lanes l USING (owner_id)
     CROSS JOIN LATERAL (SELECT coalesce(e.status = 'queued' AND e.sequence = l.done_sequence + 1, false) AS is_next) n
     WHERE e.owner_id = :ownerId AND e.sequence > :afterSequence::bigint ORDER BY e.sequence LIMIT :limit`,
    { ownerId, afterSequence, limit },
  );
  return rows;
};
