import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ErrorShape, oauthErrorCode, wireErrorType } from '@svc/contracts';
import { AppError } from '../app-error.ts';
import type { Logger } from '../logging/create-logger.ts';
import { RequestAborted } from './read-body.ts';
import { stateOf } from './request-state.ts';
import { sendJson } from './send-reply.ts';

/** Status, headers and body of an error in the route's shape. */
interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Error format of a route, and the metadata URL in its challenges. */
interface ErrorFormat {
  readonly shape: ErrorShape;
  /** Only for routes that accept access tokens (RFC 9728 section 5.1). */
  readonly resourceMetadataUrl?: string | undefined;
}

/** Renders an error in the shape that the route's contract names. */
const renderError = (error: AppError, { shape, resourceMetadataUrl }: ErrorFormat): ErrorAnswer => {
  const headers = { ...error.headers, ...challenge(error, resourceMetadataUrl) };
  if (shape === 'wire') return renderWire(error, headers);
  if (error.issues !== undefined) return { status: 422, headers, body: { detail: error.issues } };
  const body = shape === 'oauth' ? oauthBody(error) : detailBody(error);
  return { status: error.status, headers, body };
};

/**
 * RFC 9110 section 15.5.2: every 401 has a challenge. RFC 6750 section 3.1: after a refused credential it names the
 * error.
 */
const challenge = (error: AppError, resourceMetadataUrl: string | undefined): Readonly<Record<string, string>> => {
  const given = error.headers['www-authenticate'] ?? defaultChallenge(error);
  if (given === undefined) return {};
  if (resourceMetadataUrl === undefined) return { 'www-authenticate': given };
  // The scheme is followed by a space, further parameters by a comma (RFC 9110 section 11.6.1).
  const separator = given.includes('=') ? ', ' : ' ';
  return { 'www-authenticate': `${given}${separator}resource_metadata="${resourceMetadataUrl}"` };
};

const defaultChallenge = (error: AppError): string | undefined => {
  if (error.status !== 401) return undefined;
  const isRefused = error.code === 'invalid_token' || error.code === 'invalid_api_key';
  return isRefused ? 'Bearer error="invalid_token"' : 'Bearer';
};

const detailBody = (error: AppError): unknown => ({
  detail: { ...error.details, code: error.code, message: error.publicMessage },
});

const oauthBody = (error: AppError): unknown => ({
  error: oauthErrorCode(error),
  error_description: error.publicMessage,
});

/** Errors whose further members the wire format passes on. */
const DETAILED: ReadonlySet<string> = new Set([
  'duplicate_request',
  'insufficient_balance',
  'key_monthly_limit_exceeded',
  'member_monthly_limit_exceeded',
]);

const renderWire = (error: AppError, headers: Readonly<Record<string, string>>): ErrorAnswer => {
  const first = error.issues?.[0];
  const status = error.status === 422 ? 400 : error.status;
  const { param: named, envelope, ...details } = error.details;
  const isOfMessages = envelope === 'messages';
  const param = first === undefined ? asText(named) : first.loc.slice(1).join('.') || null;
  return {
    status,
    headers,
    body: {
      ...(isOfMessages ? { type: 'error' } : {}),
      error: {
        message: first === undefined ? error.publicMessage : `${param ?? 'body'}: ${first.msg}`,
        type: isOfMessages ? 'not_found_error' : wireErrorType(status),
        param,
        code: error.code,
        ...(DETAILED.has(error.code) ? details : {}),
      },
    },
  };
};

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export type AnswerError = (thrown: unknown, req: IncomingMessage, res: ServerResponse) => void;

/** Returns true if the error means that a dependency is unavailable. */
export type IsUnavailable = (thrown: unknown) => boolean;

export interface ErrorMapperOptions {
  readonly logger: Logger;
  readonly isUnavailable?: IsUnavailable | undefined;
  /** Metadata URL in challenges for access tokens (RFC 9728). */
  readonly resourceMetadataUrl?: string | undefined;
}

/** Creates the error mapper shared by all applications. */
export const createErrorMapper =
  ({ logger, isUnavailable = () => false, resourceMetadataUrl }: ErrorMapperOptions): AnswerError =>
  (thrown, req, res) => {
    if (thrown instanceof RequestAborted) {
      res.destroy();
      return;
    }
    const state = stateOf(res);
    const error = toAppError(thrown, isUnavailable);
    if (state !== undefined) {
      state.errorCode = error.code;
      state.refusedIds = error.logged;
    }
    if (isOurs(error)) {
      const log = state?.log ?? logger;
      log.error({ kind: error.kind, code: error.code, method: req.method, err: error }, 'request failed');
    }
    if (res.headersSent) {
      // The status has been sent: only a broken connection can signal an incomplete response.
      res.destroy();
      return;
    }
    const wantsToken = state?.route?.caller === 'oauth_access_token';
    answer(res, error, {
      shape: state?.errorShape ?? 'detail',
      resourceMetadataUrl: wantsToken ? resourceMetadataUrl : undefined,
    });
  };

/** Returns true for failures of ours or of a dependency. An unimplemented route is neither. */
const isOurs = (error: AppError): boolean =>
  error.code !== 'not_implemented' && (error.kind === 'internal' || error.kind === 'unavailable');

const answer = (res: ServerResponse, error: AppError, format: ErrorFormat): void => {
  const { status, headers, body } = renderError(error, format);
  for (const name of ['content-type', 'content-length', 'content-encoding', 'etag']) res.removeHeader(name);
  res.setHeader('cache-control', 'no-store');
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  sendJson(res, status, body);
};

/**
 * Converts any thrown value to an AppError. Unknown errors become `service_unavailable` or `internal_error` without
 * details.
 */
const toAppError = (thrown: unknown, isUnavailable: IsUnavailable = () => false): AppError => {
  if (thrown instanceof AppError) return thrown;
  // The router cannot decode a path such as `/%zz`, so no resource has that name.
  if (thrown instanceof URIError) return new AppError('not_found', undefined, { cause: thrown });
  const code = isUnavailable(thrown) ? 'service_unavailable' : 'internal_error';
  return new AppError(code, undefined, { cause: thrown });
};
