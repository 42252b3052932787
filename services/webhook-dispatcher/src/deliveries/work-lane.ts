import { WEBHOOK_ATTEMPTS_MAX } from '@svc/contracts';
import type { Logger } from '@svc/service-kit';
import {
  type AttemptOutcome,
  type ClaimedLane,
  type EventContent,
  LEASE_MS,
  LEASE_RENEWED_AFTER_MS,
  type Pace,
} from '../events/index.ts';
import type { LaneStore, LaneWork } from './lane-store.ts';
import type { DeliveryMeters } from './meters.ts';
import { type RetrySchedule, retryDelayMs } from './retry-schedule.ts';
import { ATTEMPT_TIMEOUT_MS, type AttemptDeps, type AttemptResult, sendAttempt } from './send-attempt.ts';
import type { Slot } from './slots.ts';

/** What working on a lane needs from outside. */
export interface WorkLaneDeps extends AttemptDeps {
  readonly store: LaneStore;
  readonly schedule: RetrySchedule;
  readonly logger: Logger;
  readonly meters: DeliveryMeters;
  /** Aborts attempts when the process can wait for them no longer. */
  readonly aborted: AbortSignal;
  /** After it, no further event is begun. */
  readonly isStopping: () => boolean;
  /** Called when a lane was left that may have more to deliver. */
  readonly onGivenBack: () => void;
  /** Called with the time until an attempt that was put off. */
  readonly onRetryIn: (delayMs: number) => void;
}

/** A lane with the place that it takes up here. */
export interface HeldLane {
  readonly lane: ClaimedLane;
  /** The lane's next event, where it came with the claim. */
  readonly content: EventContent | undefined;
  readonly slot: Slot;
  /** On the process's own clock, from before the claim was sent. */
  readonly claimedAtMs: number;
}

/** How working on a lane ended: `held` lanes are to be given back, the others are no longer ours. */
export type LaneEnd = 'held' | 'gone';

/** Then the lane goes to the back of the row, so that a busy app does not keep a place to itself. */
const EVENTS_PER_CLAIM_MAX = 50;
/** An attempt that takes longer than these steps together leaves its place to others. */
const SLOW_STEP_MS = 100;
const SLOW_STEPS = 5;
/** Left of the lease when an attempt that takes all its time has ended. */
const WRITE_BACK_MS = 2_000;

/** Delivers a claimed lane's events one after the other until one fails, none is left, or others have waited enough. */
export const workLane = async (
  { lane: claimed, content, slot, claimedAtMs }: HeldLane,
  deps: WorkLaneDeps,
): Promise<LaneEnd> => {
  let lane = claimed;
  let leaseStartMs = claimedAtMs;
  let work = await deps.store.load(claimed, content);
  for (let count = 1; ; count += 1) {
    if (work === undefined) return 'gone';
    // A process that was paused must not send what another one may have sent meanwhile.
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
    // The lease still holds, so the generation is the same, and so is the target.
    work =
      recorded.next === undefined
        ? await deps.store.load(lane, undefined)
        : { content: recorded.next, target: work.target };
  }
};

/** Undefined: the attempt was cut off because the process stops. */
const attemptTimed = async (
  { lane, work, slot }: { lane: ClaimedLane; work: LaneWork; slot: Slot },
  deps: WorkLaneDeps,
): Promise<Pick<Attempted, 'result' | 'pace'> | undefined> => {
  const { url, secret } = work.target;
  let pace: Pace = 'prompt';
  const stopWatching = afterSteps(() => {
    // One late answer may be ours, or the network's: who was prompt gets another chance before it waits among the slow.
    pace = lane.pace === 'prompt' ? 'unknown' : 'slow';
    slot.becomeSlow();
  });
  try {
    return { result: await sendAttempt({ url, secret, body: work.content.body }, deps, deps.aborted), pace };
  } catch (error) {
    if (deps.aborted.aborted) return undefined;
    throw error;
  } finally {
    stopWatching();
  }
};

/**
 * Calls back after SLOW_STEPS · SLOW_STEP_MS of time in which this process could have seen an answer: a step that ends late,
 * because the process was busy, counts no more than another.
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
    client_id: lane.clientId,
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
  if (!isRecorded) deps.logger.warn(fields, 'an attempt came to its end after its lease was lost');
  else if (result === 'failed') deps.logger.error(fields, 'an event has failed and blocks the later ones of its app');
  else if (result === 'retry') {
    deps.logger.info({ ...fields, delay_ms: delayMs }, 'an attempt failed and will be repeated');
    deps.onRetryIn(delayMs);
  } else deps.logger.debug(fields, 'an event was delivered');
};
