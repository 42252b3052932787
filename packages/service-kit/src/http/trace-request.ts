import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isSpanContextValid, SpanKind } from '@opentelemetry/api';
import type { RouteDefinition } from '@svc/contracts';
import { contextOf, endSpan, tracer, withinSpan } from '../traces.ts';
import { STATUS_CALLER_GONE } from './read-body.ts';
import { stateOf } from './request-state.ts';
import { whenClosed } from './when-closed.ts';

/** Probes run every few seconds; their traces carry no information. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
const SERVER_FAULT = 500;

/** Handles a request as one span of the caller's trace, or of a new one. */
export const traceRequest = (answer: RequestListener, req: IncomingMessage, res: ServerResponse): void => {
  if (PROBES.has(req.url ?? '')) {
    answer(req, res);
    return;
  }
  const { traceparent } = req.headers;
  const parent = contextOf(typeof traceparent === 'string' ? traceparent : undefined);
  const span = tracer().startSpan('request', { kind: SpanKind.SERVER }, parent);
  if (!isSpanContextValid(span.spanContext())) {
    // Traces are off.
    answer(req, res);
    return;
  }
  whenClosed(res, () => {
    const state = stateOf(res);
    const status = res.headersSent ? res.statusCode : STATUS_CALLER_GONE;
    const method = state?.route?.method ?? 'other';
    span.updateName(state?.route === undefined ? 'unmatched' : `${method} ${state.route.path}`);
    span.setAttributes({
      'http.request.method': method,
      'http.route': state?.route?.path,
      'http.response.status_code': status,
      'url.path': pathOf(state?.route),
      'svc.operation': state?.operation,
      'svc.request_id': state?.requestId,
      'svc.caller': state?.caller?.kind,
      'error.type': state?.errorCode,
    });
    const isCutOff = !res.writableFinished;
    endSpan(span, status >= SERVER_FAULT ? (state?.errorCode ?? String(status)) : isCutOff ? 'aborted' : undefined);
  });
  withinSpan(span, () => answer(req, res));
};

/** Returns the path of a route without parameters. A parameter is the caller's text, so it stays out of traces. */
const pathOf = (route: RouteDefinition | undefined): string | undefined =>
  route?.path.includes('{') === false ? route.path : undefined;
