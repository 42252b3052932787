import type { IncomingMessage } from 'node:http';
import { idPattern, newId } from '@svc/contracts';
import type { RequestHandler, Response } from 'express';
import type { Logger } from '../logging/create-logger.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import { clientAddress } from './client-address.ts';
import { attachState, RequestState } from './request-state.ts';

/** What the first handler of every application needs. */
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
const STATUS_CALLER_GONE = 499;
const HSTS = 'max-age=31536000';

/** Gives every request its id, its security headers, one log line and its metrics, whatever becomes of it. */
export const openRequest = (options: OpenRequestOptions): RequestHandler => {
  const newRequestId = options.newRequestId ?? (() => newId('req'));
  return (req, res, next) => {
    const incoming = req.headers['x-request-id'];
    // The ingress strips what came from outside and sets its own, so one of the right form is ours.
    const requestId = typeof incoming === 'string' && REQUEST_ID.test(incoming) ? incoming : newRequestId();
    const state = new RequestState(requestId, clientAddress(req, options.trustProxyHops), options.logger);
    attachState(res, state);
    setDefaultHeaders(res, requestId, options.isHttps);
    res.once('close', () => {
      closeRequest(req, res, state, options);
    });
    res.once('finish', () => {
      limitUnreadBody(req);
    });
    next();
  };
};

/** Handlers may replace any of these: pages set their own policy, public documents their own caching. */
const setDefaultHeaders = (res: Response, requestId: string, isHttps: boolean): void => {
  res.setHeader('X-Request-Id', requestId);
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  if (isHttps) res.setHeader('Strict-Transport-Security', HSTS);
};

const closeRequest = (req: IncomingMessage, res: Response, state: RequestState, options: OpenRequestOptions): void => {
  const seconds = Number(process.hrtime.bigint() - state.startedAt) / 1e9;
  const method = req.method ?? '';
  const status = res.headersSent ? res.statusCode : STATUS_CALLER_GONE;
  options.metrics.observeRequest({ operation: state.operation, method, status, seconds });
  const fields = {
    request_id: state.requestId,
    operation: state.operation,
    route: state.route?.path,
    method,
    status,
    duration_ms: Math.round(seconds * 1000),
    caller: state.callerKind,
    code: state.errorCode,
    ...(res.writableFinished ? {} : { aborted: true }),
  };
  if (state.probe === undefined) options.logger.info(fields, 'request');
  else options.logger.debug(fields, 'probe');
};

const limitUnreadBody = (req: IncomingMessage): void => {
  if (req.complete) return;
  const timer = setTimeout(() => {
    if (!req.complete) req.socket.destroy();
  }, UNREAD_BODY_MS);
  timer.unref();
  req.once('close', () => clearTimeout(timer));
};
