import type { IncomingMessage, ServerResponse } from 'node:http';
import { idPattern, newId } from '@svc/contracts';
import type { Logger } from '../logging/create-logger.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import { holdDefaultHeaders } from './default-headers.ts';
import { attachState, RequestState } from './request-state.ts';

/** What opening a request needs. */
export interface OpenRequestOptions {
  logger: Logger;
  metrics: Metrics;
  trustProxyHops: number;
  /** Answers go out over https: tell browsers to stay there. */
  isHttps: boolean;
  newRequestId?: () => string;
}

const REQUEST_ID = idPattern('req');
/** A caller that was answered early may send the rest of its body for this long, so that it reads the answer. */
const UNREAD_BODY_MS = 5_000;
/** Counted where the caller left before any answer; never sent. */
export const STATUS_CALLER_GONE = 499;

/** Gives every request its id, its security headers, one log line and its metrics, whatever becomes of it. */
export const createRequestOpener = (
  options: OpenRequestOptions,
): ((req: IncomingMessage, res: ServerResponse) => RequestState) => {
  const newRequestId = options.newRequestId ?? (() => newId('req'));
  const { logger, trustProxyHops } = options;
  return (req, res) => {
    const incoming = req.headers['x-request-id'];
    // The ingress strips what came from outside and sets its own, so one of the right form is ours.
    const requestId = typeof incoming === 'string' && REQUEST_ID.test(incoming) ? incoming : newRequestId();
    const state = new RequestState({ requestId, req, trustProxyHops, logger });
    attachState(res, state);
    holdDefaultHeaders(res, { requestId, isHttps: options.isHttps });
    res.once('close', () => {
      closeRequest(req, res, state, options);
    });
    return state;
  };
};

/** A response closes when its answer is out or the caller has left, whichever comes first. */
const closeRequest = (
  req: IncomingMessage,
  res: ServerResponse,
  state: RequestState,
  { metrics, logger }: OpenRequestOptions,
): void => {
  if (res.writableFinished && !req.complete) limitUnreadBody(req);
  const milliseconds = performance.now() - state.startedAtMs;
  const { operation } = state;
  const method = req.method ?? '';
  const status = res.headersSent ? res.statusCode : STATUS_CALLER_GONE;
  metrics.observeRequest({ operation, method, status, seconds: milliseconds / 1000 });
  const fields = {
    request_id: state.requestId,
    trace_id: state.traceId,
    operation,
    route: state.route?.path,
    method,
    status,
    duration_ms: Math.round(milliseconds),
    caller: state.callerKind,
    code: state.errorCode,
    ...(res.writableFinished ? {} : { aborted: true }),
  };
  if (state.audit !== undefined) {
    const { request_id, code } = fields;
    logger.info({ component: 'audit', request_id, operation, status, code, ...state.audit }, 'audit');
  }
  if (state.probe === undefined) logger.info(fields, 'request');
  else logger.debug(fields, 'probe');
};

const limitUnreadBody = (req: IncomingMessage): void => {
  if (req.destroyed) return;
  const timer = setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, UNREAD_BODY_MS);
  timer.unref();
  req.once('close', () => clearTimeout(timer));
};
