import { readBytes } from '../bytes.ts';
import { serviceErrorCodes } from '../generated/contract.ts';
import { accepts, either, integer, list, nullable, object, openObject, optional, text } from '../shape.ts';

export interface SvcErrorParts {
  readonly code: SvcErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly resetsAt?: Date | undefined;
  readonly manageUrl?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly isRetryable?: boolean | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** A failed call. Aborting through the caller's signal throws the signal's reason instead. */
export class SvcError extends Error {
  override readonly name: string = 'SvcError';
  readonly code: SvcErrorCode;
  /** HTTP status. Undefined without an answer. */
  readonly status: number | undefined;
  /** Request id that the service assigned. Pass it to `requestUsage`, or quote it to support. */
  readonly requestId: string | undefined;
  /** End of the window whose cap is reached. */
  readonly resetsAt: Date | undefined;
  /** Page on which the user can remove the cause, such as the plans for `subscription_inactive`. Link to it. */
  readonly manageUrl: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /**
   * True only if the request was certainly not billed and the same request may succeed later. Never true while the
   * outcome is unknown: check the usage first.
   */
  readonly isRetryable: boolean;
  /** Further fields of the error, such as `request_id` and `state` of `duplicate_request`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(parts: SvcErrorParts) {
    super(parts.message, { cause: parts.cause });
    this.code = parts.code;
    this.status = parts.status;
    this.requestId = parts.requestId;
    this.resetsAt = parts.resetsAt;
    this.manageUrl = parts.manageUrl;
    this.retryAfterSeconds = parts.retryAfterSeconds;
    this.isRetryable = parts.isRetryable ?? false;
    this.details = parts.details ?? {};
  }
}

/** One fault of a request. `loc` starts with `body`, `query`, `path`, `form` or `header`. */
export interface ValidationFault {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** The service rejected the request as invalid (422). `faults` names the fields. Nothing was billed. */
export class ValidationFailedError extends SvcError {
  override readonly name = 'ValidationFailedError';
  readonly faults: readonly ValidationFault[];

  constructor(faults: readonly ValidationFault[], parts: Omit<SvcErrorParts, 'code' | 'message'>) {
    const named = faults.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
    super({ ...parts, code: 'validation_failed', message: `The request is not valid. ${named}` });
    this.faults = faults;
  }
}

/**
 * The user's limit for this app refused the request, and nothing was billed. `code` is `app_limit_exceeded`,
 * `app_budget_expired` or `connection_paused`. For `app_limit_exceeded`, `resetsAt` is the time when the limit starts
 * again; a limit of period `total` has none.
 */
export class AppLimitError extends SvcError {
  override readonly name = 'AppLimitError';
  /** Page on which the user can change the limit. Link to it. */
  override readonly manageUrl: string;

  constructor(manageUrl: string, parts: SvcErrorParts) {
    super(parts);
    this.manageUrl = manageUrl;
  }
}

/**
 * The request may have been served and billed, but its answer is lost. Do not repeat it blindly: call `requestUsage`
 * with the request id, or repeat it with the same idempotency key, which serves it at most once.
 */
export class OutcomeUnknownError extends SvcError {
  override readonly name = 'OutcomeUnknownError';

  constructor(parts: Omit<SvcErrorParts, 'isRetryable'>) {
    super({ ...parts, isRetryable: false });
  }
}

/**
 * A stream that ended before `[DONE]`, with an error of the service (see `code`) or without. Generated tokens are
 * billed.
 */
export class StreamInterruptedError extends SvcError {
  override readonly name = 'StreamInterruptedError';

  constructor(parts: Omit<SvcErrorParts, 'isRetryable'>) {
    super({ ...parts, isRetryable: false });
  }
}

/** Error code of the service. */
export type ServiceErrorCode = keyof typeof serviceErrorCodes;

/**
 * Error codes of the SDK itself.
 *
 * - `validation_failed`: the service answered 422; see `ValidationFailedError.faults`.
 * - `connection_failed`: no connection was made, so the request was not sent.
 * - `outcome_unknown`: the request was sent but not fully answered; it may have been billed.
 * - `no_answer`: a read-only request timed out, or its connection broke.
 * - `invalid_answer`: the answer violates the contract.
 * - `stream_interrupted`: a stream ended before `[DONE]`.
 */
export type SdkErrorCode =
  | 'validation_failed'
  | 'connection_failed'
  | 'outcome_unknown'
  | 'no_answer'
  | 'invalid_answer'
  | 'stream_interrupted';

/** Every known code, and codes that a later release of the service may add. */
export type SvcErrorCode = ServiceErrorCode | SdkErrorCode | (string & {});

/** Returns true if a repeat is safe and may succeed. `isBilled`: the request may have cost something. */
const isRetryableAnswer = (code: string, status: number, isBilled: boolean): boolean => {
  const known = findCode(code);
  if (known !== undefined && known.status === status && known.retry) return true;
  // Refused unread, by the service or by a proxy.
  if (status === 429) return true;
  if (isBilled) return false;
  return status === 500 || status === 502 || status === 504 || (status === 503 && known === undefined);
};

const findCode = (code: string): { status: number; retry: boolean } | undefined =>
  // `hasOwn` proves that `code` is a key.
  Object.hasOwn(serviceErrorCodes, code) ? serviceErrorCodes[code as ServiceErrorCode] : undefined;

const ERROR_BYTES_MAX = 1024 * 1024;

/** Codes of refusals by the user's limit for the app. */
const APP_LIMITS: ReadonlySet<string> = new Set(['app_limit_exceeded', 'app_budget_expired', 'connection_paused']);

/** Body of a 422 answer. */
const validationErrorShape = object({
  detail: list(object({ loc: list(either(text(), integer())), msg: text(), type: text() })),
});

/** Body of every other error. */
const errorBodyShape = object({
  detail: openObject({
    code: text(),
    message: text(),
    resets_at: optional(nullable(text())),
    manage_url: optional(text()),
  }),
});

/** Converts an error response. `isBilled`: the request may have cost something. */
export const readError = async (response: Response, isBilled: boolean): Promise<SvcError> => {
  const { status } = response;
  const requestId = requestIdOf(response);
  const retryAfterSeconds = readRetryAfter(response.headers.get('retry-after'));
  // The service knows best: a 502 is usually free, but not if the provider served more than could be passed on.
  const isFinal = response.headers.get('x-should-retry') === 'false';
  const body = await readJson(response);
  if (status === 422 && accepts(validationErrorShape, body)) {
    const faults = body.detail.map(({ loc, msg, type }) => ({ loc, msg, type }));
    return new ValidationFailedError(faults, { status, requestId });
  }
  if (!accepts(errorBodyShape, body)) {
    // Not an error of the service: a proxy answered, so it is unknown if the service saw the request.
    const parts = { code: 'invalid_answer', message: `Unexpected answer with status ${status}.`, status, requestId };
    if (isBilled && status >= 500) return new OutcomeUnknownError({ ...parts, code: 'outcome_unknown' });
    const isRetryable = !isFinal && isRetryableAnswer('', status, isBilled);
    return new SvcError({ ...parts, retryAfterSeconds, isRetryable });
  }
  const { code, message, resets_at: resetsAt, ...details } = body.detail;
  const manageUrl = details.manage_url;
  const parts = {
    code,
    message,
    status,
    requestId,
    details,
    resetsAt: readTime(resetsAt),
    manageUrl,
    retryAfterSeconds,
  };
  if (code === 'upstream_timeout_uncertain') return new OutcomeUnknownError(parts);
  if (manageUrl !== undefined && APP_LIMITS.has(code)) return new AppLimitError(manageUrl, parts);
  return new SvcError({ ...parts, isRetryable: !isFinal && isRetryableAnswer(code, status, isBilled) });
};

/** Returns the request id that the service assigned. */
export const requestIdOf = (response: Response): string | undefined =>
  response.headers.get('x-request-id') ?? undefined;

const readJson = async (response: Response): Promise<unknown> => {
  try {
    return JSON.parse(new TextDecoder().decode(await readBytes(response.body, ERROR_BYTES_MAX)));
  } catch {
    // The status alone decides.
    return undefined;
  }
};

const readTime = (text: string | null | undefined): Date | undefined => {
  const time = new Date(text ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
};

/** Parses seconds or a date (RFC 9110 section 10.2.3). */
const readRetryAfter = (text: string | null): number | undefined => {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const time = readTime(text);
  return time === undefined ? undefined : Math.max(0, Math.ceil((time.getTime() - Date.now()) / 1000));
};
