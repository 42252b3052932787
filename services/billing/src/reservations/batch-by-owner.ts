import { isConnectionFailure, isLockTimeout } from '@svc/database';
import { batchCalls } from '@svc/service-kit';

/** Calls per batch, which bounds the rows locked until its commit. */
const CALLS_MAX = 64;
/** One batch runs while the other commits. More concurrency would mean smaller batches, and each costs a commit. */
const BATCHES_MAX = 2;
/** Waiting calls in total. More of them would outlive their callers' timeouts. */
const WAITING_MAX = 5_000;
/** Waiting calls per owner, so that a flood on one account fills only its own queue. */
const WAITING_PER_OWNER_MAX = 500;

/**
 * Batches calls to the database, with a fair queue per owner. A call that makes its batch fail, or whose row stays
 * locked, fails alone.
 */
export const batchByOwner = <I, O>(
  run: (calls: readonly I[]) => Promise<readonly O[]>,
  ownerOf: (call: I) => string,
): ((call: I) => Promise<O>) =>
  batchCalls({
    run,
    keyOf: ownerOf,
    callsMax: CALLS_MAX,
    batchesMax: BATCHES_MAX,
    waitingMax: WAITING_MAX,
    waitingPerKeyMax: WAITING_PER_OWNER_MAX,
    isRetryable: (error, callsCount) => isLockTimeout(error) || (callsCount > 1 && !isConnectionFailure(error)),
  });
