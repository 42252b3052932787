import type { IncomingMessage, ServerResponse } from 'node:http';
import { idPattern, newId } from '@svc/contracts';
import type { Metrics } from '../create-metrics.ts';
import type { Logger } from '../logging/create-logger.ts';
import type { LogFields } from '../logging/log-fields.ts';
import type { Caller } from './binding.ts';
import { holdDefaultHeaders } from './default-headers.ts';
import { STATUS_CALLER_GONE } from './read-body.ts';
import { attachState, RequestState } from './request-state.ts';
import { whenClosed } from './when-closed.ts';

export interface OpenRequestOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly trustProxyHops: number;
  /** True if responses are served over https, which enables Strict-Transport-Security. */
  readonly isHttps: boolean;
  readonly newRequestId?: () => string;
}

const REQUEST_ID = idPattern('req');
/** Time for which a caller that got an early response may go on sending its body, so that it reads the response. */
const UNREAD_BODY_MS = 5_000;

/** Gives every request its id, security headers, one log line and metrics. */
export const createRequestOpener = (
  options: OpenRequestOptions,
): ((req: IncomingMessage, res: ServerResponse) => RequestState) => {
  const newRequestId = options.newRequestId ?? (() => newId('req'));
  const { logger, trustProxyHops } = options;
  return (req, res) => {
    const incoming = req.headers['x-request-id'];
    // The ingress strips incoming ids and sets its own, so a well-formed id is ours.
    const requestId = typeof incoming === 'string' && REQUEST_ID.test(incoming) ? incoming : newRequestId();
    const state = new RequestState({ requestId, req, trustProxyHops, logger });
    attachState(res, state);
    holdDefaultHeaders(res, { requestId, isHttps: options.isHttps });
    whenClosed(res, () => closeRequest(req, res, state, options));
    return state;
  };
};

/** A response closes when it has been sent or the caller has disconnected. */
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
    request_ids: state.requestIds,
    trace_id: state.traceId,
    operation,
    route: state.route?.path,
    method,
    status,
    duration_ms: Math.round(milliseconds),
    caller: state.caller?.kind,
    code: state.errorCode,
    ...(status < 400 ? {} : { ...state.refusedIds, ...idsOf(state.caller) }),
    ...(res.writableFinished ? {} : { aborted: true }),
  };
  if (state.audit !== undefined) {
    const { request_id, code } = fields;
    logger.audit({ component: 'audit', request_id, operation, status, code, ...state.audit }, 'audit');
  }
  if (state.probe === undefined) logger.info(fields, 'request');
  else logger.debug(fields, 'probe');
};

/** Ids by which an operator finds the refused requests of a customer who asks. Other requests have usage records. */
const idsOf = (caller: Caller | undefined): LogFields => {
  if (caller === undefined || caller.kind === 'public' || caller.kind === 'service') return {};
  return {
    ...('userId' in caller ? { user_id: caller.userId } : {}),
    ...('clientId' in caller ? { client_id: caller.clientId } : {}),
    ...('keyId' in caller ? { key_id: caller.keyId } : {}),
  };
};

const limitUnreadBody = (req: IncomingMessage): void => {
  if (req.destroyed) return;
  const timer = setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, UNREAD_BODY_MS);
  timer.unref();
  req.once('close', () => clearTimeout(timer));
};
