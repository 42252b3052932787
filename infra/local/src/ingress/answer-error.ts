import type { ServerResponse } from 'node:http';
import { type ErrorShape, errorCodes } from '@svc/contracts';
import { awaitsContinue, CROSS_ORIGIN_HEADERS, type HeadFault } from '@svc/service-kit';

/** Errors of the ingress. All others come from a service. */
export type IngressErrorCode =
  | HeadFault
  | 'not_found'
  | 'service_unavailable'
  | 'upstream_timeout_uncertain'
  | 'not_implemented';

export interface IngressError {
  readonly code: IngressErrorCode;
  readonly shape: ErrorShape;
  readonly isCrossOrigin?: boolean | undefined;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

/** Sends an error in the shape of its path, or closes the connection if a response has begun. */
export const answerError = (res: ServerResponse, error: IngressError): void => {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, description } = errorCodes[error.code];
  const body = Buffer.from(JSON.stringify(errorBody(error, error.message ?? description)));
  // The sender of a body that was not invited would send it into the next request.
  if (awaitsContinue(res.req)) res.setHeader('connection', 'close');
  if (error.retryAfterSeconds !== undefined) res.setHeader('retry-after', error.retryAfterSeconds);
  // Stock libraries of the common wire format retry any other 5xx.
  if (error.code === 'upstream_timeout_uncertain') res.setHeader('x-should-retry', 'false');
  // Every answer of the gateway has the request id in two headers.
  if (error.shape === 'wire') res.setHeader('x-svc-compliance-gateway-request-id', res.getHeader('x-request-id') ?? '');
  res.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(error.isCrossOrigin === true ? CROSS_ORIGIN_HEADERS : {}),
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
