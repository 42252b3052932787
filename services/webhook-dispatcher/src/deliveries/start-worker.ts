import { type Logger, type Metrics, runPeriodically, UnorderedSet } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { DeliveryTargets } from '../configurations/index.ts';
import { claimDueLanes, findLaneHealth, type LocalWorker, releaseLanes } from '../events/index.ts';
import { createLaneStore } from './lane-store.ts';
import type { AttemptDeps, RetrySchedule } from './send-attempt.ts';
import { createSlots } from './slots.ts';
import { createDeliveryMeters, type HeldLane, type WorkLaneDeps, workLane } from './work-lane.ts';

export interface WorkerDeps extends AttemptDeps {
  readonly database: Knex;
  readonly targets: DeliveryTargets;
  readonly schedule: RetrySchedule;
  /** Concurrent attempts at prompt receivers. */
  readonly slots: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface Worker extends LocalWorker {
  /** Looks for due lanes now instead of at the next poll. */
  readonly hint: () => void;
  /** Claims nothing more, lets attempts end, and aborts and gives back those that take longer than `graceMs`. */
  readonly stop: (graceMs?: number) => Promise<void>;
}

/** Finds expired leases, and lanes of which no hint arrived. */
const POLL_MS = 250;
const STOP_GRACE_MS = 8_000;
/** The poll is precise enough for a retry further away. */
const RETRY_HINT_MS_MAX = 60_000;

/** Starts delivering. Any number of processes may do so on one database. */
export const startWorker = (deps: WorkerDeps): Worker => {
  const aborting = new AbortController();
  const working = new UnorderedSet<Promise<void>>();
  /** `isShort`: the last look for lanes was short of slots, so a free one is a reason for the next. */
  const state = { isStopping: false, isShort: false };
  const slots = createSlots({ slots: deps.slots }, () => {
    if (state.isShort) claiming.wake();
  });
  const meters = createDeliveryMeters(deps.metrics, {
    inUse: slots.inUse,
    openSockets: deps.agent.openSockets,
    laneHealth: () => findLaneHealth(deps.database),
  });
  const laneDeps: WorkLaneDeps = {
    ...deps,
    store: createLaneStore(deps.database, deps.targets),
    meters,
    aborted: aborting.signal,
    isStopping: () => state.isStopping,
    onGivenBack: () => claiming.wake(),
    onRetryIn: (delayMs) => {
      if (delayMs < RETRY_HINT_MS_MAX) setTimeout(() => claiming.wake(), delayMs + 1).unref();
    },
  };
  const begin = (held: HeldLane): void => {
    const work = deliver(held, deps.database, laneDeps).finally(() => {
      leave();
      held.slot.release();
    });
    const leave = working.add(work);
  };
  const claim = async (): Promise<boolean> => {
    const limits = slots.free();
    state.isShort = Object.values(limits).includes(0);
    const paces = Object.entries(limits).filter(([, limit]) => limit > 0);
    if (paces.length === 0) return false;
    const claimedAtMs = performance.now();
    const claims = await claimDueLanes(deps.database, limits);
    for (const each of claims) begin({ ...each, slot: slots.take(each.lane.pace), claimedAtMs });
    return paces.some(([pace, limit]) => claims.filter(({ lane }) => lane.pace === pace).length === limit);
  };
  const claiming = runPeriodically({
    name: 'worker',
    intervalMs: POLL_MS,
    run: async (signal) => {
      while (!signal.aborted && (await claim()));
    },
    logger: deps.logger,
  });
  return {
    hint: claiming.wake,
    reserve() {
      const slot = state.isStopping ? undefined : slots.takePrompt();
      if (slot === undefined) return undefined;
      return {
        begin: (claimed) => begin({ ...claimed.claim, slot, claimedAtMs: claimed.claimedAtMs }),
        release: slot.release,
      };
    },
    async stop(graceMs = STOP_GRACE_MS) {
      state.isStopping = true;
      const deadline = setTimeout(() => aborting.abort(), graceMs);
      await claiming.stop();
      while (working.size > 0) await Promise.all(working);
      clearTimeout(deadline);
    },
  };
};

const deliver = async (held: HeldLane, database: Knex, deps: WorkLaneDeps): Promise<void> => {
  try {
    if ((await workLane(held, deps)) === 'gone') return;
    await releaseLanes(database, [held.lane]);
    deps.onGivenBack();
  } catch (error) {
    // The lease expires, and another claim repeats the attempt.
    const fields = { component: 'worker', owner_id: held.lane.ownerId, err: error };
    deps.logger.error(fields, 'a lane could not be delivered');
  }
};
