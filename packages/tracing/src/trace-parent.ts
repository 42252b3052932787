import type { SpanContext } from '@opentelemetry/api';

/** W3C Trace Context section 3.2: version, trace id, span id, flags. Later versions may append fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;
const CHARACTERS_MAX = 200;
const SAMPLED = 1;

/** Parses a `traceparent` header. Returns undefined if it is invalid. */
export const parseTraceparent = (header: string): SpanContext | undefined => {
  const [, traceId, spanId, flags] = (header.length <= CHARACTERS_MAX && TRACEPARENT.exec(header)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true };
};

/** Formats a `traceparent` header. */
export const formatTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & SAMPLED}`;

/** Returns true if the trace is exported. */
export const isSampled = ({ traceFlags }: SpanContext): boolean => (traceFlags & SAMPLED) === SAMPLED;
