import type { SpanStart, TraceSpan, Tracing } from './span.ts';

let active: Tracing | undefined;

/** Returns the active tracing, or undefined while it is off; then this call is the whole cost. */
export const activeTracing = (): Tracing | undefined => active;

/** Turns tracing on or off for the process. */
export const setTracing = (tracing: Tracing | undefined): void => {
  active = tracing;
};

/** Returns the current span. Undefined while tracing is off or outside a span. */
export const currentSpan = (): TraceSpan | undefined => active?.current();

/**
 * Runs `work` in this span, or in none. Use it for work done later on behalf of others: otherwise the work would count
 * as part of the span that triggered it.
 */
export const withinSpan = <T>(span: TraceSpan | undefined, work: () => T): T =>
  active === undefined ? work() : active.within(span, work);

/** Runs `work` as a step of the current trace, if there is one. */
export const traced = <T>(start: SpanStart, work: () => Promise<T>): Promise<T> =>
  active?.current() === undefined ? work() : trace(active, start, work);

const trace = async <T>(tracing: Tracing, start: SpanStart, work: () => Promise<T>): Promise<T> => {
  const span = tracing.begin(start);
  try {
    const result = await tracing.within(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end(errorCodeOf(error));
    throw error;
  }
};

const CODE = /^[\w.-]{1,60}$/;

/** Returns the code of our errors, PostgreSQL's or the system's, or else the class. Never the message. */
export const errorCodeOf = (error: unknown): string => {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  if (typeof code === 'string' && CODE.test(code)) return code;
  return error instanceof Error && CODE.test(error.name) ? error.name : 'unknown';
};
