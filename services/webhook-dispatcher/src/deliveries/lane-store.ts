import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionFailure, isDeadlock } from '@svc/database';
import { batchCalls } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { DeliveryTarget, DeliveryTargets } from '../configurations/index.ts';
import {
  type AttemptOutcome,
  type ClaimedLane,
  type EventContent,
  listQueuedContents,
  type RecordedOutcome,
  recordOutcomes,
} from '../events/index.ts';

export interface LaneWork {
  readonly content: EventContent;
  readonly target: DeliveryTarget;
}

/** Reads and writes of a worker, many lanes to a statement. */
export interface LaneStore {
  /** Returns the lane's work, and reads it unless it came with the claim. Returns undefined if the generation is over. */
  readonly load: (lane: ClaimedLane, content: EventContent | undefined) => Promise<LaneWork | undefined>;
  /** Records an outcome. Returns undefined if the lease was lost, in which case nothing changes. */
  readonly record: (outcome: AttemptOutcome) => Promise<RecordedOutcome | undefined>;
}

/** Lanes in one statement. A worker has fewer slots than calls may wait, so no call is refused. */
const BATCHING = { callsMax: 200, waitingMax: 100_000 };
/** Covers a restart of the database. After that the lease is nearly over, and another worker repeats the attempt. */
const RECORD_TRIES_MAX = 8;
const RECORD_RETRY_MS = 250;

export const createLaneStore = (database: Knex, targets: DeliveryTargets): LaneStore => {
  const load = batchCalls({ ...BATCHING, run: (lanes: readonly ClaimedLane[]) => loadAll(database, targets, lanes) });
  return {
    load: async (lane, content) => {
      const target = content === undefined ? undefined : targets.recall(lane);
      return content === undefined || target === undefined ? await load(lane) : { content, target };
    },
    record: batchCalls({
      ...BATCHING,
      run: (outcomes: readonly AttemptOutcome[]) => recordAll(database, outcomes),
    }),
  };
};

const loadAll = async (
  database: Knex,
  targets: DeliveryTargets,
  lanes: readonly ClaimedLane[],
): Promise<(LaneWork | undefined)[]> => {
  const [contents, found] = await Promise.all([listQueuedContents(database, lanes), targets.find(lanes)]);
  const byOwner = new Map(contents.map((content) => [content.ownerId, content]));
  return lanes.map((lane, index) => {
    const content = byOwner.get(lane.ownerId);
    const target = found[index];
    const isCurrent = content?.generation === lane.generation && content.sequence === lane.sequence;
    return isCurrent && target !== undefined ? { content, target } : undefined;
  });
};

const recordAll = async (
  database: Knex,
  outcomes: readonly AttemptOutcome[],
): Promise<(RecordedOutcome | undefined)[]> => {
  const recorded = await withRetries(() => recordOutcomes(database, outcomes));
  const byOwner = new Map(recorded.map((outcome) => [outcome.ownerId, outcome]));
  return outcomes.map(({ lane }) => byOwner.get(lane.ownerId));
};

const withRetries = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      // Without a retry every attempt of the batch would be repeated when its lease expires.
      const isTransient = isConnectionFailure(error) || isDeadlock(error);
      if (attempt >= RECORD_TRIES_MAX || !isTransient) throw error;
      await sleep(RECORD_RETRY_MS);
    }
  }
};
