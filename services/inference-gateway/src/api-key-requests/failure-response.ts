import type { ServerResponse } from 'node:http';
import type { ErrorCode } from '@svc/contracts';
import type { AppError } from '@svc/service-kit';
import { BROKEN_STREAM_ERROR, sendJsonText } from '../forwarding/index.ts';
import type { UpstreamFailure } from '../upstream-failure.ts';

/** Passes a provider's own 400, 404, 413, 415 or 422 on with its message, in the common wire format. */
export const sendRejection = (res: ServerResponse, failure: UpstreamFailure, idleTimeoutMs: number): void => {
  const { wireError, status = 400 } = failure;
  const error = {
    message: wireError?.message ?? 'The provider refused the request.',
    type: wireError?.type ?? 'invalid_request_error',
    param: wireError?.param ?? null,
    code: wireError?.code ?? null,
  };
  void sendJsonText(res, JSON.stringify({ error }), { status, idleTimeoutMs });
};

/** Returns the error of a stream that failed after its head, but before its first event. */
export const toStreamError = ({ code, publicMessage, status }: AppError): StreamError => ({
  message: publicMessage,
  type: status >= 500 ? 'server_error' : 'invalid_request_error',
  param: null,
  code,
});

/** Error in an event of a stream. */
export interface StreamError {
  readonly message: string;
  readonly type: string;
  readonly param: null;
  readonly code: ErrorCode;
}

/** Error of a stream that broke off. */
export const BROKEN_STREAM: StreamError = {
  message: BROKEN_STREAM_ERROR.message,
  type: 'server_error',
  param: null,
  code: BROKEN_STREAM_ERROR.code,
};

/** Error of a stream whose later chunks name a model that its route does not cover. The proof no longer holds. */
export const UNATTRIBUTED_STREAM: StreamError = {
  message: 'The answer named another model than at its beginning, and was broken off. It may have cost something.',
  type: 'server_error',
  param: null,
  code: 'provider_attribution_ambiguous',
};
