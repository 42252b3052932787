import type { ErrorShape } from '@svc/contracts';
import type { AppError } from '../app-error.ts';

/** An error as it goes out: status, headers and body in the shape of the route. */
export interface ErrorAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

/** Renders an error in the shape that the route's contract names. */
export const renderError = (error: AppError, shape: ErrorShape): ErrorAnswer => {
  const headers = { ...challenge(error), ...error.headers };
  if (shape === 'wire') return renderWire(error, headers);
  if (error.issues !== undefined) return { status: 422, headers, body: { detail: error.issues } };
  const body = shape === 'oauth' ? oauthBody(error) : detailBody(error);
  return { status: error.status, headers, body };
};

/** RFC 9110 section 15.5.2: every 401 challenges; RFC 6750 section 3.1: one for a refused credential says so. */
const challenge = (error: AppError): Readonly<Record<string, string>> => {
  if (error.status !== 401) return {};
  const isRefused = error.code === 'invalid_token' || error.code === 'invalid_api_key';
  return { 'www-authenticate': isRefused ? 'Bearer error="invalid_token"' : 'Bearer' };
};

const detailBody = (error: AppError): unknown => ({
  detail: { ...error.details, code: error.code, message: error.publicMessage },
});

/** RFC 6749 section 5.2 has six codes, section 4.1.2.1 two more for our own failures. */
const oauthBody = (error: AppError): unknown => ({
  error: oauthCode(error),
  error_description: error.publicMessage,
});

const oauthCode = (error: AppError): string => {
  if (error.kind === 'limit' || (error.kind === 'unavailable' && error.status !== 501))
    return 'temporarily_unavailable';
  if (error.kind === 'internal') return 'server_error';
  return 'invalid_request';
};

const renderWire = (error: AppError, headers: Readonly<Record<string, string>>): ErrorAnswer => {
  const first = error.issues?.[0];
  const status = error.status === 422 ? 400 : error.status;
  const { param: named, ...details } = error.details;
  const param = first === undefined ? asText(named) : first.loc.slice(1).join('.') || null;
  return {
    status,
    headers,
    body: {
      error: {
        ...details,
        message: first === undefined ? error.publicMessage : `${param ?? 'body'}: ${first.msg}`,
        type: wireType(status),
        param,
        code: error.code,
      },
    },
  };
};

const wireType = (status: number): string => {
  if (status >= 500) return 'server_error';
  if (status === 402) return 'insufficient_quota';
  return status === 429 ? 'rate_limit_error' : 'invalid_request_error';
};

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
