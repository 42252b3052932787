import type { newId } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Clock } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type EventDraft, type EventName, encodeEnvelope, eventIdOf, type StoredEvent } from './event.ts';
import { type Claim, type LaneHead, LEASE, lockLanes } from './lanes.ts';

export interface LocalWorker {
  /** Reserves a slot for a prompt receiver's lane; returns undefined if none is free. */
  readonly reserve: () => Reservation | undefined;
  /** Announces due lanes to the workers of all replicas. */
  readonly hint: () => void;
}

/** A reserved slot. Its holder calls exactly one of the two, once. */
export interface Reservation {
  /** Works on a lane that was leased to this process. `claimedAtMs` is the process's own time before it asked for the lease. */
  readonly begin: (claimed: { readonly claim: Claim; readonly claimedAtMs: number }) => void;
  readonly release: () => void;
}

export interface StoreDeps {
  readonly clock: Clock;
  readonly newId: typeof newId;
  /** Delivers the stored events at once. If omitted, the next poll of a worker picks them up. */
  readonly worker?: LocalWorker | undefined;
}

interface NewEvent {
  readonly ownerId: string;
  readonly userId: string;
  readonly sequence: number;
  readonly eventId: string;
  readonly generation: number;
  readonly event: EventName;
  readonly factId: string | null;
  readonly body: Buffer;
  readonly createdSeconds: number;
}

interface LaneAdvance {
  readonly ownerId: string;
  readonly lastSequence: number;
  /** Leases the lane to this process with the next lease token; only for an idle lane. */
  readonly isLeased: boolean;
}

const eventColumns = recordColumns<NewEvent>({
  ownerId: 'owner_id text',
  userId: 'svc_user_id text',
  sequence: 'sequence bigint',
  eventId: 'event_id text',
  generation: 'generation integer',
  event: 'event text',
  factId: 'fact_id uuid',
  body: 'body bytea',
  createdSeconds: 'created bigint',
});
const advanceColumns = recordColumns<LaneAdvance>({
  ownerId: 'owner_id text',
  lastSequence: 'last_sequence bigint',
  isLeased: 'is_leased boolean',
});

/** The lease begins at `clock_timestamp()`, because `now()` is when the transaction began. */
const APPEND_EVENTS = {
  name: 'append_events',
  text: `WITH stored AS (
      INSERT INTO events (${eventColumns.names}) SELECT * FROM ${eventColumns.unnest('given_events')}
    )
    UPDATE lanes SET
      last_sequence = given.last_sequence,
      due_at = CASE
        WHEN given.is_leased THEN lease.ends_at
        WHEN blocked_sequence IS NULL THEN coalesce(due_at, now())
      END,
      leased_until = CASE WHEN given.is_leased THEN lease.ends_at ELSE leased_until END,
      lease_token = lease_token + given.is_leased::int
    FROM ${advanceColumns.unnest('given', eventColumns.arrays([]).length + 1)},
      (SELECT clock_timestamp() + ${LEASE} AS ends_at) AS lease
    WHERE lanes.owner_id = given.owner_id`,
};

/**
 * Assigns each event the next sequence of its lane and stores its body. Lanes stay locked until `trx` ends, so commits are in the
 * order of sequences. Drops events of owners without a configuration, and returns the stored ones in the given order.
 *
 * The same statement leases an idle lane of a prompt receiver to this process if a slot is free, which saves a claim with its
 * commit. The lane is locked and has nothing open, so its next event is the first one stored here. The lease token grows, so
 * earlier leases are void. The attempt begins after the commit. If the process dies in between, the lease expires.
 */
export const storeEvents = async (
  trx: Knex.Transaction,
  drafts: readonly EventDraft[],
  deps: StoreDeps,
): Promise<StoredEvent[]> => {
  if (drafts.length === 0) return [];
  const lanes = await lockLanes(trx, [...new Set(drafts.map(({ ownerId }) => ownerId))]);
  const events = placeEvents(drafts, lanes, deps);
  if (events.length === 0) return [];
  const byOwner = Map.groupBy(events, ({ ownerId }) => ownerId);
  const claimedAtMs = performance.now();
  let isHintDue = false;
  const advances = lanes.flatMap((lane): LaneAdvance[] => {
    const own = byOwner.get(lane.ownerId) ?? [];
    const [first] = own;
    if (first === undefined) return [];
    const reservation = lane.isIdle && lane.pace === 'prompt' ? deps.worker?.reserve() : undefined;
    if (reservation !== undefined) {
      afterCommit(
        trx,
        () => reservation.begin({ claim: toClaim(lane, first), claimedAtMs }),
        // If the commit's outcome is unknown, the lease expires.
        () => reservation.release(),
      );
    }
    const isLeased = reservation !== undefined;
    isHintDue ||= lane.isIdle && !isLeased;
    return [{ ownerId: lane.ownerId, lastSequence: lane.lastSequence + own.length, isLeased }];
  });
  if (isHintDue) afterCommit(trx, () => deps.worker?.hint());
  await runPrepared(trx, APPEND_EVENTS, [...eventColumns.arrays(events), ...advanceColumns.arrays(advances)]);
  return events.map(({ ownerId, eventId, sequence }) => ({ ownerId, eventId, sequence }));
};

const placeEvents = (drafts: readonly EventDraft[], lanes: readonly LaneHead[], deps: StoreDeps): NewEvent[] => {
  const createdSeconds = Math.floor(deps.clock().getTime() / 1_000);
  const heads = new Map(lanes.map((lane) => [lane.ownerId, { lane, sequence: lane.lastSequence }]));
  return drafts.flatMap((draft): NewEvent[] => {
    const head = heads.get(draft.ownerId);
    if (head === undefined || head.lane.isOff) return [];
    head.sequence += 1;
    const { ownerId, userId, event, factId } = draft;
    const eventId = factId === null ? deps.newId('evt') : eventIdOf(factId, ownerId, event);
    const place = { eventId, sequence: head.sequence, createdSeconds };
    const { generation } = head.lane;
    return [{ ...place, ownerId, userId, generation, event, factId, body: encodeEnvelope(draft, place) }];
  });
};

const toClaim = (lane: LaneHead, { sequence, eventId, event, body }: NewEvent): Claim => {
  const { ownerId, generation, pace, secretVersion } = lane;
  return {
    lane: { ownerId, generation, sequence, leaseToken: lane.leaseToken + 1, pace, secretVersion },
    content: { eventId, event, attempts: 0, attemptsInRound: 0, body },
  };
};

const afterCommit = (trx: Knex.Transaction, onCommit: () => void, onRollback = (): void => undefined): void => {
  trx.executionPromise.then(onCommit, onRollback);
};
