export { parsePairs } from './parse-pairs.ts';
export type { SpanAttributes, SpanKind, SpanStart, TraceSpan, Tracing } from './span.ts';
export { type RunningTraces, startTracing, type TracingOptions } from './start-tracing.ts';
export { activeTracing, currentSpan, errorCodeOf, traced, withinSpan } from './tracing.ts';
