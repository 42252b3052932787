import type { ServerResponse } from 'node:http';
import { type ErrorShape, errorCodes } from '@svc/contracts';

/** Errors that the ingress itself answers; everything else comes from a service. */
export type IngressErrorCode =
  | 'repeated_host'
  | 'not_found'
  | 'service_unavailable'
  | 'upstream_timeout_uncertain'
  | 'not_implemented';

/** An error to answer. */
export interface IngressError {
  code: IngressErrorCode;
  shape: ErrorShape;
  message?: string;
  retryAfterSeconds?: number;
}

/** Answers an error in the shape of the path it happened on, or breaks the connection where an answer has begun. */
export const answerError = (res: ServerResponse, error: IngressError): void => {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, description } = errorCodes[error.code];
  const body = Buffer.from(JSON.stringify(errorBody(error, error.message ?? description)));
  if (error.retryAfterSeconds !== undefined) res.setHeader('retry-after', error.retryAfterSeconds);
  // Stock libraries of the common wire format repeat any other 5xx by themselves.
  if (error.code === 'upstream_timeout_uncertain') res.setHeader('x-should-retry', 'false');
  // On the gateway every answer tells the request's id twice.
  if (error.shape === 'wire') res.setHeader('x-svc-compliance-gateway-request-id', res.getHeader('x-request-id') ?? '');
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  res.end(body);
};

const errorBody = ({ code, shape }: IngressError, message: string): object => {
  if (shape === 'wire') {
    const type = errorCodes[code].status >= 500 ? 'server_error' : 'invalid_request_error';
    return { error: { message, type, param: null, code } };
  }
  if (shape === 'oauth') {
    const error = code === 'service_unavailable' ? 'temporarily_unavailable' : 'invalid_request';
    return { error, error_description: message };
  }
  return { detail: { code, message } };
};
