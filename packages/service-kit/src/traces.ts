import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';

/** Returns the tracer of the process. Its spans record nothing while traces are off. */
export const tracer = () => trace.getTracer('svc');

/** Returns the context of a `traceparent` header (W3C Trace Context), or the current one if the header is missing or invalid. */
export const contextOf = (traceparent: string | undefined): Context => {
  if (traceparent === undefined) return context.active();
  // Nothing else of the caller is passed on, such as a `tracestate`.
  const remote = propagation.extract(ROOT_CONTEXT, { traceparent });
  return trace.getSpanContext(remote) === undefined ? context.active() : remote;
};

/** Returns the header that carries a trace to another process. Undefined while traces are off. */
export const traceparentOf = (span: Span | undefined): string | undefined => {
  if (span === undefined) return undefined;
  const carrier: { traceparent?: string } = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
  return carrier.traceparent;
};

/** Returns true for a span that is exported. Traces without such a span need not be stored. */
export const isSampled = (span: Span | undefined): boolean =>
  span !== undefined && (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;

/**
 * Runs `work` in this span, or in none. Use it for work done later on behalf of others: otherwise the work would count
 * as part of the span that triggered it.
 */
export const withinSpan = <T>(span: Span | undefined, work: () => T): T =>
  context.with(span === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, span), work);

/** Ends a span. An error code marks it as failed. Error messages do not belong in a trace. */
export const endSpan = (span: Span | undefined, errorCode?: string): void => {
  if (errorCode !== undefined) {
    span?.setAttribute('error.type', errorCode);
    span?.setStatus({ code: SpanStatusCode.ERROR });
  }
  span?.end();
};

const CODE = /^[\w.-]{1,60}$/;

/** Returns the code of our errors, PostgreSQL's or the system's, or else the class. Never the message. */
export const errorCodeOf = (error: unknown): string => {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  if (typeof code === 'string' && CODE.test(code)) return code;
  return error instanceof Error && CODE.test(error.name) ? error.name : 'unknown';
};
