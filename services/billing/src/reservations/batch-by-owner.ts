import { isConnectionFailure, isLockTimeout } from '@svc/database';
import { batchCalls } from '@svc/service-kit';

/** Calls in one batch: so many rows at most stay locked until it commits. */
const CALLS_MAX = 64;
/** One batch is decided while the disk takes the other. With more they would be smaller, and each costs a commit. */
const BATCHES_MAX = 2;
/** Calls that may wait in all. More could not be answered before their callers give up. */
const WAITING_MAX = 5_000;
/** Calls of one owner that may wait: a flood on one account fills its own queue only. */
const WAITING_PER_OWNER_MAX = 500;

/**
 * Batches calls to the database, fair between owners. A call that makes its batch fail, or whose row is locked for long,
 * fails alone.
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
