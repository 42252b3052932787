import type { SvcErrorCode } from './error-codes.ts';

/** The parts of an error. */
export interface SvcErrorParts {
  readonly code: SvcErrorCode;
  readonly message: string;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly resetsAt?: Date | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly isRetryable?: boolean | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** A call failed. Aborting a call through its own signal is not one of these: that throws the signal's reason. */
export class SvcError extends Error {
  override readonly name: string = 'SvcError';
  readonly code: SvcErrorCode;
  /** The HTTP status; undefined where no answer came. */
  readonly status: number | undefined;
  /** What the service calls the request: for `requestUsage`, and for asking its people. */
  readonly requestId: string | undefined;
  /** On a reached cap: when its window ends. */
  readonly resetsAt: Date | undefined;
  readonly retryAfterSeconds: number | undefined;
  /**
   * True only where the request was certainly not billed and the same one may succeed later. Never true where the outcome
   * is unknown: look at the usage first.
   */
  readonly isRetryable: boolean;
  /** Further fields of the service's answer, such as `request_id` and `state` of `duplicate_request`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(parts: SvcErrorParts) {
    super(parts.message, { cause: parts.cause });
    this.code = parts.code;
    this.status = parts.status;
    this.requestId = parts.requestId;
    this.resetsAt = parts.resetsAt;
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

/** The service refused the request as it is (422); `faults` names every field. Nothing was billed. */
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
 * The request may have been served and billed, but its answer is lost. Do not repeat it blindly: ask `requestUsage` with
 * the request id, or repeat it with the same idempotency key, which serves it at most once.
 */
export class OutcomeUnknownError extends SvcError {
  override readonly name = 'OutcomeUnknownError';

  constructor(parts: Omit<SvcErrorParts, 'isRetryable'>) {
    super({ ...parts, isRetryable: false });
  }
}

/** A stream ended before `[DONE]`: with the service's error (`code` is its code), or without a word. It is billed for what it was. */
export class StreamInterruptedError extends SvcError {
  override readonly name = 'StreamInterruptedError';

  constructor(parts: Omit<SvcErrorParts, 'isRetryable'>) {
    super({ ...parts, isRetryable: false });
  }
}
