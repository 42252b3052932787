import { type Logger, type Metrics, UnorderedSet } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { DeliveryTargets } from '../configurations/index.ts';
import { claimDueLanes, findLaneHealth, type LocalWorker, releaseLanes } from '../events/index.ts';
import { createAlarm } from './alarm.ts';
import { createLaneStore } from './lane-store.ts';
import { createDeliveryMeters } from './meters.ts';
import type { RetrySchedule } from './retry-schedule.ts';
import type { AttemptDeps } from './send-attempt.ts';
import { createSlots } from './slots.ts';
import { type HeldLane, type WorkLaneDeps, workLane } from './work-lane.ts';

/** What the worker needs. */
export interface WorkerDeps extends AttemptDeps {
  readonly database: Knex;
  readonly targets: DeliveryTargets;
  readonly schedule: RetrySchedule;
  /** Attempts at one time that are not known to be slow. */
  readonly slots: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The part of a process that delivers. */
export interface Worker extends LocalWorker {
  /** Something may have become due: look at once instead of at the next poll. */
  hint(): void;
  /** Takes nothing more, lets attempts end, gives back the lanes of those that do not within `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

/** Finds what other replicas have stored without a hint to us, and leases that ran out. */
const POLL_MS = 250;
/** The database is away: no need to ask at every hint. */
const FAILURE_PAUSE_MS = 500;
const STOP_GRACE_MS = 8_000;
/** A retry further away is found by the poll as well. */
const RETRY_HINT_MS_MAX = 60_000;

/** Starts delivering. Any number of processes may do so on one database. */
export const startWorker = (deps: WorkerDeps): Worker => {
  const alarm = createAlarm();
  const cutOff = new AbortController();
  const underWay = new UnorderedSet<Promise<void>>();
  /** Short of places at the last look: then one that becomes free is a reason for the next. */
  const state = { isStopping: false, isShort: false };
  const slots = createSlots({ slots: deps.slots }, () => {
    if (state.isShort) alarm.ring();
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
    aborted: cutOff.signal,
    isStopping: () => state.isStopping,
    onGivenBack: alarm.ring,
    onRetryIn: (delayMs) => {
      if (delayMs < RETRY_HINT_MS_MAX) setTimeout(alarm.ring, delayMs + 1).unref();
    },
  };
  const begin = (held: HeldLane): void => {
    const work = deliver(held, deps.database, laneDeps).finally(() => {
      leave();
      held.slot.release();
    });
    const leave = underWay.add(work);
  };
  const claimRound = async (): Promise<boolean> => {
    const limits = slots.free();
    state.isShort = Object.values(limits).includes(0);
    const paces = Object.entries(limits).filter(([, limit]) => limit > 0);
    if (paces.length === 0) return false;
    const claimedAtMs = performance.now();
    const claims = await claimDueLanes(deps.database, limits);
    for (const claim of claims) begin({ ...claim, slot: slots.take(claim.lane.pace), claimedAtMs });
    return paces.some(([pace, limit]) => claims.filter(({ lane }) => lane.pace === pace).length === limit);
  };
  const loop = (async () => {
    while (!state.isStopping) {
      alarm.reset();
      try {
        if (await claimRound()) continue;
        await alarm.wait(POLL_MS);
      } catch (error) {
        deps.logger.error({ component: 'worker', err: error }, 'due lanes could not be claimed');
        await alarm.wait(FAILURE_PAUSE_MS);
      }
    }
  })();
  return {
    hint: alarm.ring,
    reserve() {
      const slot = state.isStopping ? undefined : slots.takePrompt();
      if (slot === undefined) return undefined;
      return { begin: ({ claim, claimedAtMs }) => begin({ ...claim, slot, claimedAtMs }), release: slot.release };
    },
    async stop(graceMs = STOP_GRACE_MS) {
      state.isStopping = true;
      alarm.ring();
      const deadline = setTimeout(() => cutOff.abort(), graceMs);
      await loop;
      while (underWay.size > 0) await Promise.all(underWay);
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
    // The lease runs out, and the attempt is repeated by whoever comes next.
    deps.logger.error(
      { component: 'worker', client_id: held.lane.clientId, err: error },
      'a lane could not be worked on',
    );
  }
};
