/** Error object of the common wire format. */
export interface WireError {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
}

/**
 * Reason of a failure. Up to `rejected`, the provider has definitely generated nothing. From `timeout` on, it may have
 * served and charged the request, and with `too_complex` it has, so the request must not be sent again.
 *
 * - `held_back`: the gateway sends nothing to the route now
 * - `unreachable`: no connection, so nothing was sent
 * - `busy`: 429, or 503 with an error body or Retry-After
 * - `failed`: another 5xx with an error body
 * - `unauthorized`: another status that points to a fault in our configuration
 * - `rejected`: the request itself is invalid
 * - `unusable`: a response that lacks what our own contract requires, so that the caller gets and pays nothing
 * - `timeout`, `lost`, `garbled`: silence, a broken connection, an unreadable response
 * - `not_relayed`: the gateway itself failed after the request was dispatched
 * - `too_complex`: the response exceeds the limits of size and shape, and is not read any further
 */
export type FailureReason =
  | 'held_back'
  | 'unreachable'
  | 'busy'
  | 'failed'
  | 'unauthorized'
  | 'rejected'
  | 'unusable'
  | 'timeout'
  | 'lost'
  | 'garbled'
  | 'not_relayed'
  | 'too_complex';

export interface FailureDetails {
  readonly status?: number | undefined;
  /** The provider's Retry-After, if it is well-formed. */
  readonly retryAfter?: string | undefined;
  /** Only for `rejected`. May quote the request, so it is shown to the caller but never logged. */
  readonly wireError?: WireError | undefined;
  /** Bytes of the response that were read; only for `too_complex`. */
  readonly bytesRead?: number | undefined;
  readonly cause?: unknown;
  /** True if no other route may serve the request, because the caller has been told the provider. */
  readonly isFinal?: boolean;
}

const UNCERTAIN: ReadonlySet<FailureReason> = new Set(['timeout', 'lost', 'garbled', 'not_relayed']);

/**
 * Thrown if a request was not served, or its response not passed on. The message contains no content of the request or
 * response. After dispatch, no other error reaches the caller (see `toDispatchedFailure`).
 */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly reason: FailureReason;
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  readonly bytesRead: number;
  /** Private, so that no serializer can log it: it may quote a prompt. */
  readonly #wireError: WireError | undefined;
  readonly #isFinal: boolean;

  constructor(reason: FailureReason, details: FailureDetails = {}) {
    const status = details.status === undefined ? '' : ` (status ${details.status})`;
    super(
      `the provider's part failed: ${reason}${status}`,
      details.cause === undefined ? {} : { cause: details.cause },
    );
    this.reason = reason;
    this.status = details.status;
    this.retryAfter = details.retryAfter;
    this.bytesRead = details.bytesRead ?? 0;
    this.#wireError = details.wireError;
    this.#isFinal = details.isFinal ?? false;
  }

  /** Returns the same failure, after which no other route is tried. */
  asFinal(): UpstreamFailure {
    const { reason, status, retryAfter, wireError, bytesRead } = this;
    return new UpstreamFailure(reason, { status, retryAfter, wireError, bytesRead, cause: this.cause, isFinal: true });
  }

  /** The provider's error for a rejected request. */
  get wireError(): WireError | undefined {
    return this.#wireError;
  }

  /** True if the provider may have served the request. */
  get isUncertain(): boolean {
    return UNCERTAIN.has(this.reason);
  }

  /** True if the caller has or may have to pay for the request. */
  get mayBeBilled(): boolean {
    return this.isUncertain || this.reason === 'too_complex';
  }

  /** True if the provider received the request. */
  get hasReachedProvider(): boolean {
    return this.reason !== 'held_back' && this.reason !== 'unreachable';
  }

  /** True if another route may serve the request: nothing was generated, and the request is valid. */
  get allowsFallback(): boolean {
    return !this.#isFinal && !this.mayBeBilled && this.reason !== 'rejected' && this.reason !== 'unusable';
  }
}

/**
 * Maps an error that was thrown after a request was dispatched. The provider may have served the request by then, so every
 * failure of the gateway itself (memory, a worker, a bug) has an uncertain outcome and must not be retried.
 */
export const toDispatchedFailure = (error: unknown): UpstreamFailure =>
  error instanceof UpstreamFailure ? error : new UpstreamFailure('not_relayed', { cause: error });
