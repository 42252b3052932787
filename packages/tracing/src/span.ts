/**
 * Every attribute that a span may have. What is not listed is dropped, so that a header, a query or a body that is handed in
 * by mistake reveals nothing. None of these may ever hold a token, a secret, an address, a prompt or an answer.
 */
const attributeNames = [
  'http.request.method',
  'http.route',
  'http.response.status_code',
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
  'svc.operation',
  'svc.request_id',
  'svc.caller',
  'svc.provider',
  'svc.upstream_route',
] as const;

/** Attributes of a span, by names on the list; where there are any, those of OpenTelemetry's semantic conventions. */
export type SpanAttributes = { readonly [name in (typeof attributeNames)[number]]?: string | number | undefined };

/** What a span is to its surroundings, as OpenTelemetry names it. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** What a span begins with. */
export interface SpanStart {
  /** From a closed set: a route, an operation, a subject. */
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: SpanAttributes | undefined;
  /** A `traceparent` header (W3C Trace Context). Without one that can be read, the span that is current is the parent. */
  readonly parent?: string | undefined;
  /** Other spans that this one works for, as `traceparent` headers. */
  readonly links?: readonly string[] | undefined;
}

/** One step of a trace. */
export interface TraceSpan {
  readonly traceId: string;
  /** What carries the trace to another process. */
  readonly traceparent: string;
  /** Whether it will be exported; what is not sampled is not worth storing. */
  readonly isSampled: boolean;
  rename(name: string): void;
  add(attributes: SpanAttributes): void;
  /** Ends it, once. With a code it failed; texts of errors have no place in a trace. */
  end(errorCode?: string): void;
}

/** Makes traces, while they are on. */
export interface Tracing {
  begin(start: SpanStart): TraceSpan;
  /** Runs `work` with this span as the current one, or with none. */
  within<T>(span: TraceSpan | undefined, work: () => T): T;
  current(): TraceSpan | undefined;
}

const allowed: ReadonlySet<string> = new Set(attributeNames);
const TEXT_CHARACTERS_MAX = 200;

/** Keeps what is on the list and plain. */
export const allowListed = (attributes: SpanAttributes): Record<string, string | number> => {
  const kept: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (!allowed.has(name)) continue;
    if (typeof value === 'string') kept[name] = value.slice(0, TEXT_CHARACTERS_MAX);
    else if (typeof value === 'number') kept[name] = value;
  }
  return kept;
};
