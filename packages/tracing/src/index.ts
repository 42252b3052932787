export { parsePairs } from './parse-pairs.ts';
export type { SpanAttributes, SpanKind, SpanStart, TraceSpan, Tracing } from './span.ts';
export {
  activeTracing,
  currentSpan,
  errorCodeOf,
  type RunningTraces,
  startTracing,
  type TracingOptions,
  traced,
  withinSpan,
} from './start-tracing.ts';
