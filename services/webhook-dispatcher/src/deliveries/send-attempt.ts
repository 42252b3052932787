import {
  type AllowTargets,
  AnswerUnfinished,
  checkDestination,
  DestinationError,
  type Lookup,
  type PinnedAgent,
  parseDestination,
} from '@svc/destinations';
import type { Clock } from '@svc/service-kit';
import type { DeliveryTarget } from '../configurations/index.ts';
import { signDelivery } from '../signatures.ts';

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  UND_ERR_HEADERS_OVERFLOW: 'answer_not_http',
  // undici's code for an answer that switches the protocol (101).
  ERR_ASSERTION: 'answer_not_http',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'connection_reset',
  EHOSTUNREACH: 'host_unreachable',
  ENETUNREACH: 'host_unreachable',
  EADDRNOTAVAIL: 'host_unreachable',
  ETIMEDOUT: 'connect_timeout',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name_mismatch',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
};

/** OpenSSL's codes for a faulty certificate chain. */
const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_(SIGNATURE|REVOKED|UNTRUSTED|REJECTED|CHAIN)|INVALID_(CA|PURPOSE)|PATH_LENGTH)/;

export interface AttemptRequest {
  readonly url: string;
  readonly secret: string;
  readonly previous: DeliveryTarget['previous'];
  readonly eventId: string;
  readonly body: Buffer;
}

/** Result of an attempt. The body of the answer is never kept. */
export interface AttemptResult {
  readonly isDelivered: boolean;
  readonly at: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** A fixed word for the cause; null if delivered. `timeout_in_body`: the status arrived, but the body did not end. */
  readonly error: string | null;
  /** Delay that the receiver asked for with a 429 or 503. */
  readonly retryAfterMs: number | undefined;
}

export interface AttemptDeps {
  readonly agent: PinnedAgent;
  readonly lookup: Lookup;
  readonly allowTargets: AllowTargets;
  readonly clock: Clock;
}

/** From the DNS look-up to the last byte of the answer. */
export const ATTEMPT_TIMEOUT_MS = 10_000;
const USER_AGENT = 'svc-webhooks/1';
const RETRY_AFTER_STATUSES: readonly number[] = [429, 503];

/**
 * Makes one attempt: DNS look-up, check of the addresses, connection to a checked address, signed POST. Every failure is a
 * result. Throws only the reason of `stopping`.
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
    const now = deps.clock();
    const { eventId, body, secret, previous } = attempt;
    const secrets = previous !== undefined && previous.expiresAt > now ? [secret, previous.secret] : [secret];
    const unixSeconds = Math.floor(now.getTime() / 1_000);
    const headers = {
      host: destination.authority,
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      ...signDelivery({ eventId, body, unixSeconds, secrets }),
    };
    const { statusCode, retryAfter } = await deps.agent.post(checked, { headers, body }, signal);
    if (statusCode >= 200 && statusCode < 300) return result(statusCode, null);
    const asksForTime = RETRY_AFTER_STATUSES.includes(statusCode);
    return result(statusCode, 'unexpected_status', asksForTime ? parseRetryAfter(retryAfter, deps.clock()) : undefined);
  } catch (error) {
    stopping.throwIfAborted();
    const statusCode = error instanceof AnswerUnfinished ? error.statusCode : null;
    if (isTimeout()) return result(statusCode, statusCode === null ? 'timeout' : 'timeout_in_body');
    if (error instanceof DestinationError) return result(null, error.fault);
    return result(statusCode, describeFailure(error instanceof AnswerUnfinished ? error.cause : error));
  } finally {
    release();
  }
};

/** Returns one signal for time-out and stop. A signal composed by `AbortSignal.any` costs more than the request's own work. */
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

/** Returns a fixed word for a failed request. Never text of the receiver or of a library. */
const describeFailure = (error: unknown): string => {
  const code = codeOf(error);
  const cause = CAUSES[code];
  if (cause !== undefined) return cause;
  if (UNTRUSTED.test(code)) return 'certificate_not_trusted';
  // For a malformed answer undici gives its parser's code, or none.
  if (error instanceof Error && error.name === 'HTTPParserError') return 'answer_not_http';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO') return 'tls_failed';
  return 'connection_failed';
};

/** Returns the first failure's code if several addresses were tried. */
const codeOf = (error: unknown): string => {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error && 'code' in first && typeof first.code === 'string' ? first.code : '';
};

export interface RetrySchedule {
  /** Length of the first step, milliseconds. */
  readonly baseMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

const RETRY_FACTOR = 4;
const RETRY_JITTER = 0.2;

/**
 * Returns the milliseconds from the end of failed attempt number `attempt`, from 1, to the next one: base · 4^(attempt − 1),
 * ±20 %. A receiver may ask for more by `Retry-After`, up to the length of the following step.
 */
export const retryDelayMs = (attempt: number, retryAfterMs: number | undefined, schedule: RetrySchedule): number => {
  const stepMs = schedule.baseMs * RETRY_FACTOR ** (attempt - 1);
  const jitteredMs = stepMs * (1 - RETRY_JITTER + 2 * RETRY_JITTER * schedule.random());
  const askedMs = Math.min(retryAfterMs ?? 0, stepMs * RETRY_FACTOR);
  return Math.round(Math.max(jitteredMs, askedMs));
};

/**
 * Parses a `Retry-After` header (RFC 9110 section 10.2.3: seconds, or a date) to milliseconds from now. Returns undefined if it
 * is absent or malformed.
 */
export const parseRetryAfter = (value: string | undefined, now: Date): number | undefined => {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const dateMs = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - now.getTime());
};
