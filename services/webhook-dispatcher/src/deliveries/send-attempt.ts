import { request } from 'node:https';
import { WEBHOOK_SIGNATURE_HEADER } from '@svc/contracts';
import {
  type AllowTargets,
  type CheckedDestination,
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
/** Of an answer's body; what is beyond is not read. */
const ANSWER_BYTES_MAX = 64 * 1024;
/** A kept connection may have been closed by the receiver while the request was on its way. */
const STALE_SOCKETS_MAX = 3;
const USER_AGENT = 'svc-webhooks/1';
const RETRY_AFTER_STATUSES: readonly number[] = [429, 503];

interface Answer {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
}

/**
 * Makes one attempt: look-up, check, connection to a checked address, signed POST. Throws only `stopping`'s reason: everything
 * else that can go wrong is a result.
 */
export async function sendAttempt(
  attempt: AttemptRequest,
  deps: AttemptDeps,
  stopping: AbortSignal,
): Promise<AttemptResult> {
  const at = deps.clock();
  const startMs = performance.now();
  const timeout = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
  const signal = AbortSignal.any([timeout, stopping]);
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
    const { statusCode, retryAfter } = await post({ checked, signature, body: attempt.body }, deps.agent, signal);
    if (statusCode >= 200 && statusCode < 300) return result(statusCode, null);
    const asksForTime = RETRY_AFTER_STATUSES.includes(statusCode);
    return result(statusCode, 'unexpected_status', asksForTime ? parseRetryAfter(retryAfter, deps.clock()) : undefined);
  } catch (error) {
    stopping.throwIfAborted();
    if (timeout.aborted) return result(null, 'timeout');
    return result(null, error instanceof DestinationError ? error.fault : describeFailure(error));
  }
}

interface SignedRequest {
  readonly checked: CheckedDestination;
  readonly signature: string;
  readonly body: Buffer;
}

async function post(signed: SignedRequest, agent: PinnedAgent, signal: AbortSignal): Promise<Answer> {
  for (let stale = 0; ; stale += 1) {
    const sent = { isOnKeptSocket: false };
    try {
      return await postOnce(signed, agent, { signal, sent });
    } catch (error) {
      if (!sent.isOnKeptSocket || stale >= STALE_SOCKETS_MAX || signal.aborted) throw error;
    }
  }
}

function postOnce(
  { checked, signature, body }: SignedRequest,
  agent: PinnedAgent,
  { signal, sent }: { signal: AbortSignal; sent: { isOnKeptSocket: boolean } },
): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const outgoing = request({
      ...agent.requestOptions(checked),
      method: 'POST',
      signal,
      headers: {
        host: checked.destination.authority,
        'content-type': 'application/json',
        'content-length': body.length,
        'user-agent': USER_AGENT,
        [WEBHOOK_SIGNATURE_HEADER]: signature,
      },
    });
    outgoing.once('error', (error) => {
      sent.isOnKeptSocket = outgoing.reusedSocket;
      reject(error);
    });
    outgoing.once('response', (incoming) => {
      const answer = { statusCode: incoming.statusCode ?? 0, retryAfter: incoming.headers['retry-after'] };
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= ANSWER_BYTES_MAX) return;
        // The rest is nobody's business: the connection goes with it.
        resolve(answer);
        incoming.destroy();
      });
      incoming.once('end', () => resolve(answer));
      incoming.once('error', reject);
      incoming.once('close', () => reject(new Error('the connection closed within the answer')));
    });
    outgoing.end(body);
  });
}
