/**
 * Allowed attributes of a span. Others are dropped, so that a header, query or body passed in by mistake is not
 * exported. None may ever hold a token, secret, address, prompt or answer.
 */
const attributeNames = [
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'url.path',
  'server.address',
  'server.port',
  'db.system.name',
  'db.operation.name',
  'db.query.summary',
  'messaging.system',
  'messaging.operation.type',
  'messaging.destination.name',
  'messaging.consumer.group.name',
  'messaging.message.id',
  'messaging.batch.message_count',
  'error.type',
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'svc.operation',
  'svc.request_id',
  'svc.caller',
  'svc.upstream_route',
] as const;

/** Attributes of a span. Names follow OpenTelemetry's semantic conventions if those define one. */
export type SpanAttributes = {
  readonly [name in (typeof attributeNames)[number]]?: string | number | null | undefined;
};

/** Kind of a span, as OpenTelemetry names it. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export interface SpanStart {
  /** From a closed set: a route, an operation, a subject. */
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes | undefined;
  /** A `traceparent` header (W3C Trace Context). If it is missing or invalid, the current span is the parent. */
  readonly parent?: string | undefined;
  /** Other spans served by this one, as `traceparent` headers. */
  readonly links?: readonly string[] | undefined;
}

/** One step of a trace. */
export interface TraceSpan {
  readonly traceId: string;
  /** Header value that carries the trace to another process. */
  readonly traceparent: string;
  /** True if the span will be exported. Unsampled traces need not be stored. */
  readonly isSampled: boolean;
  readonly rename: (name: string) => void;
  readonly add: (attributes: SpanAttributes) => void;
  /** Ends the span, once. An error code marks it as failed; error messages do not belong in a trace. */
  readonly end: (errorCode?: string) => void;
}

/** Creates spans while tracing is on. */
export interface Tracing {
  readonly begin: (start: SpanStart) => TraceSpan;
  /** Runs `work` with this span as the current one, or with none. */
  readonly within: <T>(span: TraceSpan | undefined, work: () => T) => T;
  readonly current: () => TraceSpan | undefined;
}

const allowed: ReadonlySet<string> = new Set(attributeNames);
const TEXT_CHARACTERS_MAX = 200;

/** Keeps allowed attributes with plain values. */
export const allowListed = (attributes: SpanAttributes): Record<string, string | number> => {
  const kept: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (!allowed.has(name)) continue;
    if (typeof value === 'string') kept[name] = value.slice(0, TEXT_CHARACTERS_MAX);
    else if (typeof value === 'number') kept[name] = value;
  }
  return kept;
};
