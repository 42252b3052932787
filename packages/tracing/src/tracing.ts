import type { SpanStart, TraceSpan, Tracing } from './span.ts';

let active: Tracing | undefined;

/** What makes traces; undefined while they are off. All that is paid then is this question. */
export const activeTracing = (): Tracing | undefined => active;

/** Turns traces on or off, for the whole process. */
export const setTracing = (tracing: Tracing | undefined): void => {
  active = tracing;
};

/** The span in which this runs; undefined while traces are off, and where nothing is traced. */
export const currentSpan = (): TraceSpan | undefined => active?.current();

/**
 * Runs `work` in this span, or in none. For what is done for others later, or for several of them at once: without it, it
 * would count as part of whatever happened to set it going.
 */
export const withinSpan = <T>(span: TraceSpan | undefined, work: () => T): T =>
  active === undefined ? work() : active.within(span, work);

/** Runs `work` as a step of the current trace; where there is none, it just runs it. */
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

/** The code that an error of ours, of PostgreSQL or of the system has, or else its class: never its text. */
export const errorCodeOf = (error: unknown): string => {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  if (typeof code === 'string' && CODE.test(code)) return code;
  return error instanceof Error && CODE.test(error.name) ? error.name : 'unknown';
};
