import { WEBHOOK_SIGNATURE_HEADER } from '@svc/contracts';
import {
  type AllowTargets,
  checkDestination,
  DestinationError,
  type Lookup,
  type PinnedAgent,
  parseDestination,
} from '../destinations/index.ts';
import { signBody } from '../signatures/index.ts';
import { describeFailure } from './describe-failure.ts';
import { parseRetryAfter } from './retry-schedule.ts';

/** One HTTP request to be made. */
export interface AttemptRequest {
  readonly url: string;
  readonly secret: string;
  readonly body: Buffer;
}

/** What an attempt came to. The answer's text is never kept. */
export interface AttemptResult {
  readonly isDelivered: boolean;
  readonly at: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** A short cause; null when delivered. */
  readonly error: string | null;
  /** What the receiver asked for with 429 or 503. */
  readonly retryAfterMs: number | undefined;
}

/** What attempts need from outside. */
export interface AttemptDeps {
  readonly agent: PinnedAgent;
  readonly lookup: Lookup;
  readonly allowTargets: AllowTargets;
  readonly clock: () => Date;
}

/** From the look-up to the answer's last byte. */
export const ATTEMPT_TIMEOUT_MS = 10_000;
const USER_AGENT = 'svc-webhooks/1';
const RETRY_AFTER_STATUSES: readonly number[] = [429, 503];

/**
 * Makes one attempt: look-up, check, connection to a checked address, signed POST. Throws only `stopping`'s reason: everything
 * else that can go wrong is a result.
 */
export const sendAttempt = async (
  attempt: AttemptRequest,
  deps: AttemptDeps,
  stopping: AbortSignal,
): Promise<AttemptResult> => {
  const at = deps.clock();
  const startMs = performance.now();
  const { signal, isTimeout, release } = limitTime(ATTEMPT_TIMEOUT_MS, stopping);
  const result = (statusCode: number | null, error: string | null, retryAfterMs?: number): AttemptResult => ({
    isDelivered: error === null,
    at,
    durationMs: Math.round(performance.now() - startMs),
    statusCode,
    error,
    retryAfterMs,
  });
  try {
    const destination = parseDestination(attempt.url, deps.allowTargets);
    const checked = await checkDestination(destination, { lookup: deps.lookup, signal });
    const unixSeconds = Math.floor(deps.clock().getTime() / 1_000);
    const signature = signBody(attempt.secret, attempt.body, unixSeconds);
    const headers = {
      host: destination.authority,
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      [WEBHOOK_SIGNATURE_HEADER]: signature,
    };
    const { statusCode, retryAfter } = await deps.agent.post(checked, { headers, body: attempt.body }, signal);
    if (statusCode >= 200 && statusCode < 300) return result(statusCode, null);
    const asksForTime = RETRY_AFTER_STATUSES.includes(statusCode);
    return result(statusCode, 'unexpected_status', asksForTime ? parseRetryAfter(retryAfter, deps.clock()) : undefined);
  } catch (error) {
    stopping.throwIfAborted();
    if (isTimeout()) return result(null, 'timeout');
    return result(null, error instanceof DestinationError ? error.fault : describeFailure(error));
  } finally {
    release();
  }
};

/** One signal for both ends of an attempt's time; composed signals cost more than the request's own work. */
const limitTime = (milliseconds: number, stopping: AbortSignal) => {
  const ending = new AbortController();
  let isOver = false;
  const stop = () => ending.abort(stopping.reason);
  const timer = setTimeout(() => {
    isOver = true;
    ending.abort();
  }, milliseconds);
  if (stopping.aborted) stop();
  else stopping.addEventListener('abort', stop, { once: true });
  const release = () => {
    clearTimeout(timer);
    stopping.removeEventListener('abort', stop);
  };
  return { signal: ending.signal, isTimeout: () => isOver, release };
};
