import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../app-error.ts';
import type { Logger } from '../logging/create-logger.ts';
import { type ErrorFormat, renderError } from './error-body.ts';
import { RequestAborted } from './read-body.ts';
import { stateOf } from './request-state.ts';
import { sendJson } from './send-reply.ts';

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
