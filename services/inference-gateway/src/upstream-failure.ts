/** Error object of the common wire format. */
export interface WireError {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
}

/**
 * Reason of a provider's failure. Up to `rejected`, the provider has definitely generated nothing. From `timeout` on, it
 * may have served and charged the request, so the request must not be sent again.
 *
 * - `held_back`: the gateway sends nothing to the route now
 * - `unreachable`: no connection, so nothing was sent
 * - `busy`: 429, or 503 with an error body or Retry-After
 * - `failed`: another 5xx with an error body
 * - `unauthorized`: another status that points to a fault in our configuration
 * - `too_complex`: the answer exceeds the limits of size and shape, and is not read any further
 * - `rejected`: the request itself is invalid
 * - `timeout`, `lost`, `garbled`: silence, a broken connection, an unreadable answer
 */
export type FailureReason =
  | 'held_back'
  | 'unreachable'
  | 'busy'
  | 'failed'
  | 'unauthorized'
  | 'too_complex'
  | 'rejected'
  | 'timeout'
  | 'lost'
  | 'garbled';

export interface FailureDetails {
  readonly status?: number | undefined;
  /** The provider's Retry-After, if it is well-formed. */
  readonly retryAfter?: string | undefined;
  /** Only for `rejected`. May quote the request, so it is shown to the caller but never logged. */
  readonly wireError?: WireError | undefined;
  readonly cause?: unknown;
}

const UNCERTAIN: ReadonlySet<FailureReason> = new Set(['timeout', 'lost', 'garbled']);

/** Thrown if a provider did not serve a request. The message contains no content of the request or answer. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly reason: FailureReason;
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  /** Private, so that no serializer can log it: it may quote a prompt. */
  readonly #wireError: WireError | undefined;

  constructor(reason: FailureReason, details: FailureDetails = {}) {
    const status = details.status === undefined ? '' : ` (status ${details.status})`;
    super(
      `the provider's part failed: ${reason}${status}`,
      details.cause === undefined ? {} : { cause: details.cause },
    );
    this.reason = reason;
    this.status = details.status;
    this.retryAfter = details.retryAfter;
    this.#wireError = details.wireError;
  }

  /** The provider's error for a rejected request. */
  get wireError(): WireError | undefined {
    return this.#wireError;
  }

  /** True if the provider may have served the request. */
  get isUncertain(): boolean {
    return UNCERTAIN.has(this.reason);
  }

  /** True if the provider received the request. */
  get hasReachedProvider(): boolean {
    return this.reason !== 'held_back' && this.reason !== 'unreachable';
  }

  /** True if another route may serve the request: nothing was generated, and the request is valid. */
  get allowsFallback(): boolean {
    return !this.isUncertain && this.reason !== 'rejected';
  }
}
