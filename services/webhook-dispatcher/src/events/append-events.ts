import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { EventName } from './event.ts';
import { LEASE } from './lane-queries.ts';

/** A row of `events` as it begins. */
export interface NewEvent {
  readonly clientId: string;
  readonly sequence: number;
  readonly eventId: string;
  readonly generation: number;
  readonly event: EventName;
  readonly factId: string | null;
  readonly body: Buffer;
  readonly createdSeconds: number;
}

/** How far a locked lane moves on. */
export interface LaneAdvance {
  readonly clientId: string;
  /** The last place given out. */
  readonly lastSequence: number;
  /** Leased to this process with the next lease token; only where the lane was idle. */
  readonly isLeased: boolean;
}

/** `clock_timestamp()`, as `now()` is when the transaction began: a lease is to be whole when it is taken. */
const APPEND_EVENTS = {
  name: 'append_events',
  text: `WITH stored AS (
      INSERT INTO events (client_id, sequence, event_id, generation, event, fact_id, body, created)
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::int[], $5::text[], $6::uuid[], $7::bytea[], $8::bigint[])
    )
    UPDATE lanes SET
      last_sequence = given.last_sequence,
      due_at = CASE
        WHEN given.is_leased THEN lease.ends_at
        WHEN blocked_sequence IS NULL THEN coalesce(due_at, now())
      END,
      leased_until = CASE WHEN given.is_leased THEN lease.ends_at ELSE leased_until END,
      lease_token = lease_token + given.is_leased::int
    FROM unnest($9::text[], $10::bigint[], $11::boolean[]) AS given (client_id, last_sequence, is_leased),
      (SELECT clock_timestamp() + ${LEASE} AS ends_at) AS lease
    WHERE lanes.client_id = given.client_id`,
};

/** Stores events of locked lanes and moves these on, in one statement. A lane that was idle becomes due, or is leased. */
export const appendEvents = async (
  trx: Knex.Transaction,
  events: readonly NewEvent[],
  advances: readonly LaneAdvance[],
): Promise<void> => {
  await runPrepared(trx, APPEND_EVENTS, [
    events.map(({ clientId }) => clientId),
    events.map(({ sequence }) => sequence),
    events.map(({ eventId }) => eventId),
    events.map(({ generation }) => generation),
    events.map(({ event }) => event),
    events.map(({ factId }) => factId),
    events.map(({ body }) => body),
    events.map(({ createdSeconds }) => createdSeconds),
    advances.map(({ clientId }) => clientId),
    advances.map(({ lastSequence }) => lastSequence),
    advances.map(({ isLeased }) => isLeased),
  ]);
};
