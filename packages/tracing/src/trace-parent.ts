import type { SpanContext } from '@opentelemetry/api';

/** W3C Trace Context section 3.2: version, trace id, span id, flags; a later version may append fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const CHARACTERS_MAX = 200;
const SAMPLED = 1;

/** Reads a `traceparent` header; undefined where it is none. */
export const parseTraceparent = (header: string): SpanContext | undefined => {
  const [, traceId, spanId, flags] = (header.length <= CHARACTERS_MAX && TRACEPARENT.exec(header)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
};

/** Writes it. */
export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & SAMPLED}`;

/** Whether the trace is to be exported. */
export const isSampled = ({ traceFlags }: SpanContext): boolean => (traceFlags & SAMPLED) === SAMPLED;
