import type { newId } from '@svc/contracts';
import type { Knex } from 'knex';
import { appendEvents, type NewEvent } from './append-events.ts';
import { encodeEnvelope } from './envelope.ts';
import type { EventDraft, StoredEvent } from './event.ts';
import { type Claim, type LaneHead, lockLanes } from './lane-queries.ts';
import type { LocalWorker, Reservation } from './local-worker.ts';

/** What storing needs from outside. */
export interface StoreDeps {
  readonly clock: () => Date;
  readonly newId: typeof newId;
  /** Delivers what is stored; without one, whoever polls finds it. */
  readonly worker?: LocalWorker | undefined;
}

/**
 * Gives each event the next place in its app's sequence and stores its body. Lanes stay locked until `trx` ends, so the
 * order of commits is the order of sequences. Events for apps without a configuration are dropped. Answers what was stored,
 * in the given order.
 *
 * An idle lane whose receiver answers soon is leased to this very process where it has a place for it, in the same statement:
 * that spares a claim with its commit. It is a claim like any other. The lane is locked and has nothing open, so its next event is the
 * first that is stored here; the lease token grows, so that every older lease is void; the attempt begins after the commit, and
 * after none when there is none. A process that dies in between loses the lease by time.
 */
export const storeEvents = async (
  trx: Knex.Transaction,
  drafts: readonly EventDraft[],
  deps: StoreDeps,
): Promise<StoredEvent[]> => {
  if (drafts.length === 0) return [];
  const lanes = await lockLanes(trx, [...new Set(drafts.map(({ clientId }) => clientId))]);
  const events = placeEvents(drafts, lanes, deps);
  if (events.length === 0) return [];
  const byClient = Map.groupBy(events, ({ clientId }) => clientId);
  const begunAtMs = performance.now();
  const advances = lanes.map((lane) => {
    const reservation = lane.isIdle && lane.pace === 'prompt' ? deps.worker?.reserve() : undefined;
    const own = byClient.get(lane.clientId) ?? [];
    const [first] = own;
    if (reservation !== undefined && first !== undefined) {
      startAfter(trx, reservation, { claim: toClaim(lane, first), claimedAtMs: begunAtMs });
    }
    const lastSequence = lane.lastSequence + own.length;
    return { clientId: lane.clientId, lastSequence, isLeased: reservation !== undefined, becomesDue: lane.isIdle };
  });
  if (advances.some(({ isLeased, becomesDue }) => becomesDue && !isLeased)) hintAfter(trx, deps.worker);
  await appendEvents(trx, events, advances);
  return events.map(({ clientId, eventId, sequence }) => ({ clientId, eventId, sequence }));
};

const placeEvents = (drafts: readonly EventDraft[], lanes: readonly LaneHead[], deps: StoreDeps): NewEvent[] => {
  const createdSeconds = Math.floor(deps.clock().getTime() / 1_000);
  const heads = new Map(lanes.map((lane) => [lane.clientId, { lane, sequence: lane.lastSequence }]));
  return drafts.flatMap((draft): NewEvent[] => {
    const head = heads.get(draft.clientId);
    if (head === undefined) return [];
    head.sequence += 1;
    const place = { eventId: deps.newId('evt'), sequence: head.sequence, createdSeconds };
    const { clientId, event, factId } = draft;
    const { generation } = head.lane;
    return [{ ...place, clientId, generation, event, factId, body: encodeEnvelope(draft, place) }];
  });
};

const toClaim = (lane: LaneHead, { sequence, eventId, event, body }: NewEvent): Claim => {
  const { clientId, generation, pace } = lane;
  return {
    lane: { clientId, generation, sequence, leaseToken: lane.leaseToken + 1, pace },
    content: { clientId, sequence, eventId, event, generation, attempts: 0, attemptsInRound: 0, body },
  };
};

const startAfter = (
  trx: Knex.Transaction,
  reservation: Reservation,
  claimed: Parameters<Reservation['begin']>[0],
): void => {
  trx.executionPromise.then(
    () => reservation.begin(claimed),
    // Where the commit's outcome is not known, the lease runs out.
    () => reservation.release(),
  );
};

/** What is not committed cannot be claimed yet; what is rolled back needs nobody. */
const hintAfter = (trx: Knex.Transaction, worker: LocalWorker | undefined): void => {
  trx.executionPromise.then(
    () => worker?.hint(),
    () => undefined,
  );
};
