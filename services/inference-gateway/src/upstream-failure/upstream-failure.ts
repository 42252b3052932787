/** An error as providers of the common wire format tell it. */
export interface WireError {
  readonly message: string;
  readonly type: string | null;
  readonly param: string | null;
  readonly code: string | null;
}

/**
 * What went wrong with a provider. Up to `rejected` it is certain that nothing was generated; from `timeout` on the
 * request may have been served and charged for, so it must not be sent again.
 *
 * - `held_back`: the gateway itself sends the route nothing now
 * - `unreachable`: no connection, so nothing was sent
 * - `busy`: 429, or 503 with an error body or Retry-After; `failed`: another 5xx with an error body; `unauthorized`: another status that is ours to mend
 * - `too_complex`: an answer beyond the bounds of size and shape, which is not read any further
 * - `rejected`: the request itself is at fault
 * - `timeout`, `lost`, `garbled`: silence, a broken connection, an answer that cannot be read
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

/** What is known of a failure beside its reason. */
export interface FailureDetails {
  readonly status?: number | undefined;
  /** The provider's Retry-After, if it is well-formed. */
  readonly retryAfter?: string | undefined;
  /** Only for `rejected`; may quote the request, so it is shown to the caller alone and never logged. */
  readonly wireError?: WireError | undefined;
  readonly cause?: unknown;
}

const UNCERTAIN: ReadonlySet<FailureReason> = new Set(['timeout', 'lost', 'garbled']);

/** A provider did not serve a request. The message never holds content. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  readonly reason: FailureReason;
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  /** Not enumerable, so that no serializer finds what may quote a prompt. */
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

  /** The provider's own words about a rejected request. */
  get wireError(): WireError | undefined {
    return this.#wireError;
  }

  /** Whether the request may have been served all the same. */
  get isUncertain(): boolean {
    return UNCERTAIN.has(this.reason);
  }

  /** Whether the provider was sent the request. */
  get hasReachedProvider(): boolean {
    return this.reason !== 'held_back' && this.reason !== 'unreachable';
  }

  /** Whether another route may serve the request: nothing was generated, and the request is not at fault. */
  get allowsFallback(): boolean {
    return !this.isUncertain && this.reason !== 'rejected';
  }
}
