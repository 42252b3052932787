import { WEBHOOK_ATTEMPTS_MAX } from '@svc/contracts';
import type { Logger, Metrics } from '@svc/service-kit';
import {
  type AttemptOutcome,
  type ClaimedLane,
  type EventContent,
  LEASE_MS,
  LEASE_RENEWED_AFTER_MS,
  type Pace,
} from '../events/index.ts';
import type { LaneStore, LaneWork } from './lane-store.ts';
import {
  ATTEMPT_TIMEOUT_MS,
  type AttemptDeps,
  type AttemptResult,
  type RetrySchedule,
  retryDelayMs,
  sendAttempt,
} from './send-attempt.ts';
import type { Slot } from './slots.ts';

export interface WorkLaneDeps extends AttemptDeps {
  readonly store: LaneStore;
  readonly schedule: RetrySchedule;
  readonly logger: Logger;
  readonly meters: DeliveryMeters;
  /** Aborts attempts that outlast the grace of a stop. */
  readonly aborted: AbortSignal;
  /** No further event is begun while it returns true. */
  readonly isStopping: () => boolean;
  /** Called when a lane is given back that may have more events. */
  readonly onGivenBack: () => void;
  readonly onRetryIn: (delayMs: number) => void;
}

export interface HeldLane {
  readonly lane: ClaimedLane;
  /** The next event, if it came with the claim. */
  readonly content: EventContent | undefined;
  readonly slot: Slot;
  /** Time of the process before it sent the claim. */
  readonly claimedAtMs: number;
}

/** `held`: the caller must give the lane back. `gone`: the lane has no more work, or is no longer ours. */
export type LaneEnd = 'held' | 'gone';

/** After so many events the lane is due again behind the others, so that a busy lane does not keep a slot to itself. */
const EVENTS_PER_CLAIM_MAX = 50;
/** An attempt that outlasts these steps counts as slow. */
const SLOW_STEP_MS = 100;
const SLOW_STEPS = 5;
/** Rest of the lease after an attempt that uses its whole time-out. */
const WRITE_BACK_MS = 2_000;

/** Delivers a claimed lane's events in order until one fails, none is left, or the lane has used its share. */
export const workLane = async (
  { lane: claimed, content, slot, claimedAtMs }: HeldLane,
  deps: WorkLaneDeps,
): Promise<LaneEnd> => {
  let lane = claimed;
  let leaseStartMs = claimedAtMs;
  let work = await deps.store.load(claimed, content);
  for (let count = 1; ; count += 1) {
    if (work === undefined) return 'gone';
    // A process that was suspended must not send an event that another worker may have sent meanwhile.
    if (performance.now() - leaseStartMs > LEASE_MS - ATTEMPT_TIMEOUT_MS - WRITE_BACK_MS) return 'held';
    if (deps.aborted.aborted) return 'held';
    const attempted = await attemptTimed({ lane, work, slot }, deps);
    if (attempted === undefined) return 'held';
    const keepLane = count < EVENTS_PER_CLAIM_MAX && !slot.isSlow() && !deps.isStopping();
    const outcome = toOutcome({ lane, work, keepLane, ...attempted }, deps.schedule);
    leaseStartMs = performance.now() - LEASE_RENEWED_AFTER_MS;
    const recorded = await deps.store.record(outcome);
    report(outcome, work, recorded !== undefined, deps);
    if (!keepLane) deps.onGivenBack();
    if (recorded?.isKept !== true) return 'gone';
    lane = { ...lane, sequence: lane.sequence + 1, pace: outcome.pace };
    // The lease still holds, so the generation is the same. A secret rotated meanwhile signs from the next claim on.
    work =
      recorded.next === undefined
        ? await deps.store.load(lane, undefined)
        : { content: recorded.next, target: work.target };
  }
};

/** Returns undefined if the attempt was aborted because the process stops. */
const attemptTimed = async (
  { lane, work, slot }: { lane: ClaimedLane; work: LaneWork; slot: Slot },
  deps: WorkLaneDeps,
): Promise<Pick<Attempted, 'result' | 'pace'> | undefined> => {
  const { url, secret, previous } = work.target;
  const { eventId, body } = work.content;
  let pace: Pace = 'prompt';
  const stopWatching = afterSteps(() => {
    // One late answer may be our fault or the network's, so a prompt receiver becomes unknown before it becomes slow.
    pace = lane.pace === 'prompt' ? 'unknown' : 'slow';
    slot.becomeSlow();
  });
  try {
    return { result: await sendAttempt({ url, secret, previous, eventId, body }, deps, deps.aborted), pace };
  } catch (error) {
    if (deps.aborted.aborted) return undefined;
    throw error;
  } finally {
    stopWatching();
  }
};

/**
 * Calls back after SLOW_STEPS · SLOW_STEP_MS of time in which this process could have read an answer. A step that ends late
 * because the process was busy counts as one step.
 */
const afterSteps = (callback: () => void): (() => void) => {
  let steps = 0;
  const next = (): NodeJS.Timeout =>
    setTimeout(() => {
      steps += 1;
      if (steps === SLOW_STEPS) callback();
      else timer = next();
    }, SLOW_STEP_MS);
  let timer = next();
  return () => clearTimeout(timer);
};

interface Attempted {
  readonly lane: ClaimedLane;
  readonly work: LaneWork;
  readonly result: AttemptResult;
  readonly keepLane: boolean;
  readonly pace: Pace;
}

const toOutcome = ({ lane, work, result, keepLane, pace }: Attempted, schedule: RetrySchedule): AttemptOutcome => {
  const inRound = work.content.attemptsInRound + 1;
  const mayRetry = inRound < WEBHOOK_ATTEMPTS_MAX;
  return {
    lane,
    attempt: work.content.attempts + 1,
    result: result.isDelivered ? 'delivered' : mayRetry ? 'retry' : 'failed',
    retryDelayMs: mayRetry && !result.isDelivered ? retryDelayMs(inRound, result.retryAfterMs, schedule) : 0,
    keepLane,
    pace,
    at: result.at,
    statusCode: result.statusCode,
    error: result.error,
    durationMs: result.durationMs,
  };
};

const report = (outcome: AttemptOutcome, { content }: LaneWork, isRecorded: boolean, deps: WorkLaneDeps): void => {
  const { lane, attempt, result, statusCode, error, durationMs, retryDelayMs: delayMs } = outcome;
  deps.meters.attempted(isRecorded ? result : 'lease_lost', durationMs);
  const fields = {
    owner_id: lane.ownerId,
    event_id: content.eventId,
    event: content.event,
    sequence: lane.sequence,
    generation: lane.generation,
    attempt,
    outcome: result,
    upstream_status: statusCode,
    reason: error,
    duration_ms: durationMs,
  };
  if (!isRecorded) deps.logger.warn(fields, 'an attempt ended after its lease was lost');
  else if (result === 'failed') deps.logger.error(fields, 'an event failed and blocks the later ones of its lane');
  else if (result === 'retry') {
    deps.logger.info({ ...fields, delay_ms: delayMs }, 'an attempt failed; retrying later');
    deps.onRetryIn(delayMs);
  } else deps.logger.debug(fields, 'an event was delivered');
};

interface DeliveryMeters {
  readonly attempted: (outcome: 'delivered' | 'retry' | 'failed' | 'lease_lost', durationMs: number) => void;
}

const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface DeliveryReadings {
  readonly inUse: () => number;
  readonly openSockets: () => number;
  readonly laneHealth: () => Promise<{ blocked: number; oldestDueSeconds: number }>;
}

export const createDeliveryMeters = (metrics: Metrics, read: DeliveryReadings): DeliveryMeters => {
  const outcomes = metrics.counter({
    name: 'webhook_attempts_total',
    help: 'Delivery attempts by outcome; another worker repeats those with lease_lost.',
    labelNames: ['outcome'],
  });
  const seconds = metrics.histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Seconds from the DNS look-up to the end of the receiver’s answer.',
    labelNames: ['outcome'],
    buckets: ATTEMPT_SECONDS,
  });
  metrics.gauge({ name: 'webhook_attempts_in_flight', help: 'Lanes in delivery in this process.', read: read.inUse });
  metrics.gauge({ name: 'webhook_receiver_sockets', help: 'Open connections to receivers.', read: read.openSockets });
  // If the database is down, the other metrics must still be readable.
  const health = (field: 'blocked' | 'oldestDueSeconds') => () =>
    read.laneHealth().then(
      (found) => found[field],
      () => Number.NaN,
    );
  metrics.gauge({
    name: 'webhook_blocked_lanes',
    help: 'Lanes whose events wait behind a failed one, in the whole service.',
    read: health('blocked'),
  });
  metrics.gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'Waiting time of the lane that has been due the longest, in the whole service.',
    read: health('oldestDueSeconds'),
  });
  // Prometheus sees a counter grow only if it has been 0 before.
  for (const outcome of ['delivered', 'retry', 'failed']) outcomes.inc({ outcome }, 0);
  return {
    attempted(outcome, durationMs) {
      outcomes.inc({ outcome });
      seconds.observe({ outcome }, durationMs / 1_000);
    },
  };
};
