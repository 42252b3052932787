import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Context, Span, SpanContext, Tracer } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { allowListed, type SpanKind, type SpanStart, type TraceSpan, type Tracing } from './span.ts';

let active: Tracing | undefined;

/** Returns the active tracing, or undefined while it is off; then this call is the whole cost. */
export const activeTracing = (): Tracing | undefined => active;

/** Turns tracing on or off for the process. */
const setTracing = (tracing: Tracing | undefined): void => {
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

/** Spans waiting for export. Further ones are dropped. */
const QUEUE_SPANS_MAX = 4_096;
const BATCH_SPANS_MAX = 512;
const BATCH_DELAY_MS = 2_000;
/** Time for pending spans at shutdown. Later ones are lost. */
const FLUSH_TIMEOUT_MS = 3_000;

export interface TracingOptions {
  readonly service: string;
  /** Base address of a collector that speaks OTLP over HTTP. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Share of traces that start here, from 0 to 1. Other traces follow the decision of their origin. */
  readonly ratio: number;
  /** Attributes of every span, in addition to the service's name. */
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** Called after every batch: with undefined on success, else with the error. */
  readonly onExport: (failure: Error | undefined) => void;
}

/** Active tracing. */
export interface RunningTraces {
  /** Exports pending spans within a time limit and turns tracing off. Resolves to true if all were accepted. */
  readonly stop: () => Promise<boolean>;
}

/**
 * Turns tracing on. OpenTelemetry's packages are loaded only here, so that a process without tracing never loads them.
 */
export const startTracing = async (options: TracingOptions): Promise<RunningTraces> => {
  const [api, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint}/v1/traces`,
    headers: { ...options.headers },
    timeoutMillis: options.timeoutMs,
  });
  const processor = new sdk.BatchSpanProcessor({
    exporter: reporting(exporter, options.onExport),
    maxQueueSize: QUEUE_SPANS_MAX,
    maxExportBatchSize: BATCH_SPANS_MAX,
    scheduledDelayMillis: BATCH_DELAY_MS,
    exportTimeoutMillis: options.timeoutMs,
  });
  const root = new sdk.TraceIdRatioBasedSampler(options.ratio);
  const provider = new sdk.TracerProvider({
    // Decides by the trace id, so services with the same ratio agree. A caller cannot force sampling.
    sampler: new sdk.ParentBasedSampler({ root, remoteParentSampled: root }),
    resource: resourceFromAttributes({
      'service.namespace': 'svc',
      'service.instance.id': randomUUID(),
      ...options.resourceAttributes,
      'service.name': options.service,
    }),
    spanProcessors: [processor],
  });
  setTracing(createTracing(api, provider.getTracer('svc')));
  return {
    stop: async () => {
      setTracing(undefined);
      return await within(FLUSH_TIMEOUT_MS, provider.shutdown());
    },
  };
};

/** Reports the result of every batch, which the SDK itself does not. */
const reporting = (exporter: SpanExporter, onExport: TracingOptions['onExport']): SpanExporter => ({
  export: (spans, done) =>
    exporter.export(spans, (result) => {
      onExport(result.code === 0 ? undefined : (result.error ?? new Error('the collector refused a batch of spans')));
      done(result);
    }),
  shutdown: () => exporter.shutdown(),
});

type Api = typeof import('@opentelemetry/api');

const createTracing = ({ SpanKind, SpanStatusCode, trace, ROOT_CONTEXT }: Api, tracer: Tracer): Tracing => {
  const running = new AsyncLocalStorage<OpenSpan | undefined>();
  const kinds: Record<SpanKind, number> = {
    internal: SpanKind.INTERNAL,
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    producer: SpanKind.PRODUCER,
    consumer: SpanKind.CONSUMER,
  };
  const parentOf = ({ parent }: SpanStart): Context => {
    const remote = parent === undefined ? undefined : parseTraceparent(parent);
    if (remote !== undefined) return trace.setSpanContext(ROOT_CONTEXT, remote);
    const current = running.getStore();
    return current === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, current.span);
  };
  return {
    begin: (start) => {
      const links = (start.links ?? []).flatMap((link) => parseTraceparent(link) ?? []);
      const options = {
        kind: kinds[start.kind],
        attributes: allowListed(start.attributes ?? {}),
        links: links.map((context) => ({ context })),
      };
      return openSpan(tracer.startSpan(start.name, options, parentOf(start)), SpanStatusCode.ERROR);
    },
    // Every span passed in was created by `begin`.
    within: (span, work) => running.run(span as OpenSpan | undefined, work),
    current: () => running.getStore(),
  };
};

/** A span with its OpenTelemetry objects. */
interface OpenSpan extends TraceSpan {
  readonly span: Span;
}

const openSpan = (span: Span, errorStatus: number): OpenSpan => {
  const context = span.spanContext();
  return {
    span,
    traceId: context.traceId,
    traceparent: formatTraceparent(context),
    isSampled: isSampled(context),
    rename: (name) => {
      span.updateName(name);
    },
    add: (attributes) => {
      span.setAttributes(allowListed(attributes));
    },
    end: (errorCode) => {
      if (errorCode !== undefined) {
        span.setAttributes({ 'error.type': errorCode });
        span.setStatus({ code: errorStatus });
      }
      span.end();
    },
  };
};

/** Resolves to true if `work` succeeds within the time. */
const within = async (timeoutMs: number, work: Promise<void>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const done = work.then(
    () => true,
    () => false,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
};
