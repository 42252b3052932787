import type { SvcErrorCode } from './error-codes.ts';

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
