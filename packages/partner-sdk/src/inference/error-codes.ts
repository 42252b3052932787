/**
 * Codes that the called endpoints answer. `retry`: certainly nothing was billed, and the same request may succeed when it
 * is repeated after `retryAfterSeconds`, or after a pause.
 */
export const serviceErrorCodes = {
  not_authenticated: { status: 401, retry: false },
  invalid_token: { status: 401, retry: false },
  insufficient_scope: { status: 403, retry: false },
  not_found: { status: 404, retry: false },
  repeated_host: { status: 400, retry: false },
  method_not_allowed: { status: 405, retry: false },
  request_timeout: { status: 408, retry: true },
  payload_too_large: { status: 413, retry: false },
  payload_too_complex: { status: 413, retry: false },
  unsupported_media_type: { status: 415, retry: false },
  // It may have happened after the request was forwarded.
  internal_error: { status: 500, retry: false },
  not_implemented: { status: 501, retry: false },
  service_unavailable: { status: 503, retry: true },
  subscription_inactive: { status: 402, retry: false },
  weekly_limit_exceeded: { status: 402, retry: false },
  monthly_limit_exceeded: { status: 402, retry: false },
  subscription_requests_pending: { status: 429, retry: true },
  subscription_service_not_included: { status: 403, retry: false },
  subscription_transcription_not_configured: { status: 503, retry: false },
  duplicate_request: { status: 409, retry: false },
  no_certified_route: { status: 503, retry: false },
  upstream_error: { status: 502, retry: true },
  upstream_unavailable: { status: 503, retry: true },
  upstream_rejected: { status: 400, retry: false },
  upstream_timeout_uncertain: { status: 504, retry: false },
} as const;

/** A code that the service answers. */
export type ServiceErrorCode = keyof typeof serviceErrorCodes;

/**
 * What the SDK itself finds.
 *
 * - `validation_failed`: the service answered 422; see `ValidationFailedError.faults`.
 * - `connection_failed`: no connection; the request was never sent.
 * - `outcome_unknown`: sent, but no whole answer came; it may have been billed.
 * - `no_answer`: a request that only reads was not answered in time, or the connection broke.
 * - `invalid_answer`: the answer is not what the contract promises.
 * - `stream_interrupted`: a stream ended before `[DONE]`.
 */
export type SdkErrorCode =
  | 'validation_failed'
  | 'connection_failed'
  | 'outcome_unknown'
  | 'no_answer'
  | 'invalid_answer'
  | 'stream_interrupted';

/** Every known code, and those that a later release of the service may add. */
export type SvcErrorCode = ServiceErrorCode | SdkErrorCode | (string & {});

/** Whether repeating is safe and of use. `isBilled`: the request could have cost something. */
export const isRetryableAnswer = (code: string, status: number, isBilled: boolean): boolean => {
  const known = findCode(code);
  if (known !== undefined && known.status === status && known.retry) return true;
  // Too many requests: turned away unread, whoever says so.
  if (status === 429) return true;
  if (isBilled) return false;
  return status === 500 || status === 502 || status === 504 || (status === 503 && known === undefined);
};

const findCode = (code: string): { status: number; retry: boolean } | undefined =>
  // The check says that `code` is one of the keys.
  Object.hasOwn(serviceErrorCodes, code) ? serviceErrorCodes[code as ServiceErrorCode] : undefined;
