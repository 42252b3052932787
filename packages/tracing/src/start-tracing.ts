import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { allowListed, type SpanKind, type SpanStart, type TraceSpan, type Tracing } from './span.ts';
import { formatTraceparent, isSampled, parseTraceparent } from './trace-parent.ts';
import { setTracing } from './tracing.ts';

/** Spans that wait to be sent; what comes when so many do is dropped. */
const QUEUE_SPANS_MAX = 4_096;
const BATCH_SPANS_MAX = 512;
const BATCH_DELAY_MS = 2_000;
/** For what waits when the process stops; whatever was not taken by then is lost. */
const FLUSH_TIMEOUT_MS = 3_000;

/** Where traces go, and how many of them. */
export interface TracingOptions {
  readonly service: string;
  /** Base address of a collector that speaks OTLP over HTTP. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Share of the traces that begin here, from 0 to 1; the others follow whoever began them. */
  readonly ratio: number;
  /** Said of every span, beside the service's name. */
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** Told of every batch: undefined for one that was taken, else what the collector or the network said. */
  readonly onExport: (failure: Error | undefined) => void;
}

/** Traces that are on. */
export interface RunningTraces {
  /** Sends what waits, for a bounded time, and turns them off. Answers whether all of it was taken. */
  stop(): Promise<boolean>;
}

/**
 * Turns traces on. OpenTelemetry's packages are loaded here and nowhere else, so that a process without traces never loads
 * one of them.
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
    // The ratio looks at the trace's id, so services that have the same ratio agree; a caller's wish to be sampled is not enough.
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

/** Tells of every batch what became of it: the SDK itself says nothing. */
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
    // Whatever is handed in was made by `begin`.
    within: (span, work) => running.run(span as OpenSpan | undefined, work),
    current: () => running.getStore(),
  };
};

/** A span with what OpenTelemetry knows it by. */
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

/** Whether `work` succeeded within this time. */
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
