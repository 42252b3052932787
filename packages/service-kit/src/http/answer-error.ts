import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../app-error.ts';
import type { Logger } from '../logging/create-logger.ts';
import { type ErrorFormat, renderError } from './error-body.ts';
import { RequestAborted } from './read-body.ts';
import { stateOf } from './request-state.ts';
import { sendJson } from './send-reply.ts';

/** Answers what was thrown. */
export type AnswerError = (thrown: unknown, req: IncomingMessage, res: ServerResponse) => void;

/** Whether what was thrown says that something we depend on could not be reached. */
export type IsUnavailable = (thrown: unknown) => boolean;

export interface ErrorMapperOptions {
  readonly logger: Logger;
  readonly isUnavailable?: IsUnavailable | undefined;
  /** Metadata that challenges for access tokens name (RFC 9728). */
  readonly resourceMetadataUrl?: string | undefined;
}

/** Creates the one error mapper: whatever a request ends with in any application, it is answered here. */
export const createErrorMapper =
  ({ logger, isUnavailable = () => false, resourceMetadataUrl }: ErrorMapperOptions): AnswerError =>
  (thrown, req, res) => {
    if (thrown instanceof RequestAborted) {
      res.destroy();
      return;
    }
    const state = stateOf(res);
    const error = toAppError(thrown, isUnavailable);
    if (state !== undefined) state.errorCode = error.code;
    if (isOurs(error)) {
      const log = state?.log ?? logger;
      log.error({ kind: error.kind, code: error.code, method: req.method, err: error }, 'request failed');
    }
    if (res.headersSent) {
      // The status is gone: only a broken connection still says that the answer is not whole.
      res.destroy();
      return;
    }
    const wantsToken = state?.route?.caller === 'oauth_access_token';
    answer(res, error, {
      shape: state?.errorShape ?? 'detail',
      resourceMetadataUrl: wantsToken ? resourceMetadataUrl : undefined,
    });
  };

/** What we have to mend, or somebody we depend on; a route that is not there yet is neither. */
const isOurs = (error: AppError): boolean =>
  error.code !== 'not_implemented' && (error.kind === 'internal' || error.kind === 'unavailable');

const answer = (res: ServerResponse, error: AppError, format: ErrorFormat): void => {
  const { status, headers, body } = renderError(error, format);
  for (const name of ['content-type', 'content-length', 'content-encoding', 'etag']) res.removeHeader(name);
  res.setHeader('cache-control', 'no-store');
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  sendJson(res, status, body);
};

/** Turns anything thrown into an AppError. What is not one of ours reveals nothing: `service_unavailable` or `internal_error`. */
const toAppError = (thrown: unknown, isUnavailable: IsUnavailable = () => false): AppError => {
  if (thrown instanceof AppError) return thrown;
  // The router cannot decode a path such as `/%zz`: no resource has that name.
  if (thrown instanceof URIError) return new AppError('not_found', undefined, { cause: thrown });
  const code = isUnavailable(thrown) ? 'service_unavailable' : 'internal_error';
  return new AppError(code, undefined, { cause: thrown });
};
