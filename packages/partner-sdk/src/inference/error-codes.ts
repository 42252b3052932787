import { serviceErrorCodes } from '../generated/contract.ts';

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
export const isRetryableAnswer = (code: string, status: number, isBilled: boolean): boolean => {
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
