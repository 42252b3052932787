import { randomUUID } from 'node:crypto';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { z } from 'zod';
import type { commonSettings } from './config/common-settings.ts';
import type { Lifecycle } from './lifecycle/lifecycle.ts';
import type { Logger } from './logging/create-logger.ts';

type TraceSettingName =
  | 'OTEL_TRACES_EXPORTER'
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_HEADERS'
  | 'OTEL_EXPORTER_OTLP_TIMEOUT'
  | 'OTEL_TRACES_SAMPLER_ARG'
  | 'OTEL_RESOURCE_ATTRIBUTES';

/** The trace settings among those of every service. */
export type TraceConfig = { readonly [name in TraceSettingName]: z.output<(typeof commonSettings)[name]> };

const LOCAL_COLLECTOR = 'http://127.0.0.1:4318';

/**
 * Enables tracing if the configuration asks for it. Call it before opening anything that is to be traced: it closes
 * last, so that the shutdown of the rest is in the traces.
 */
export const openTraces = async (
  life: Lifecycle,
  { service, config, logger }: { service: string; config: TraceConfig; logger: Logger },
): Promise<void> => {
  const endpoint = collectorOf(config);
  if (endpoint === undefined) return;
  const stop = await startTracing({
    service,
    endpoint,
    headers: parsePairs(config.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    timeoutMs: config.OTEL_EXPORTER_OTLP_TIMEOUT,
    ratio: Number(config.OTEL_TRACES_SAMPLER_ARG),
    resourceAttributes: parsePairs(config.OTEL_RESOURCE_ATTRIBUTES ?? ''),
    onExport: reportChanges(logger),
  });
  life.onStop('traces', async () => {
    // An unavailable collector must not turn a clean stop into a failed one.
    if (!(await stop())) logger.warn({ component: 'traces' }, 'the last spans were not sent');
  });
};

const collectorOf = (config: TraceConfig): string | undefined => {
  switch (config.OTEL_TRACES_EXPORTER) {
    case 'none':
      return undefined;
    case 'otlp':
      return config.OTEL_EXPORTER_OTLP_ENDPOINT ?? LOCAL_COLLECTOR;
    case undefined:
      return config.OTEL_EXPORTER_OTLP_ENDPOINT;
  }
};

/** Logs one line when the collector stops accepting spans and one when it recovers, instead of one per batch. */
const reportChanges = (logger: Logger): ((failure: Error | undefined) => void) => {
  let isFailing = false;
  return (failure) => {
    if (isFailing === (failure !== undefined)) return;
    isFailing = failure !== undefined;
    if (failure === undefined) logger.info({ component: 'traces' }, 'the collector takes spans again');
    else logger.warn({ component: 'traces', err: failure }, 'the collector does not take spans; they are lost');
  };
};

/** Spans waiting for export. Further ones are dropped. */
const QUEUE_SPANS_MAX = 4_096;
const BATCH_SPANS_MAX = 512;
const BATCH_DELAY_MS = 2_000;
/** Time for pending spans at shutdown. Later ones are lost. */
const FLUSH_TIMEOUT_MS = 3_000;
const TEXT_CHARACTERS_MAX = 200;

interface TracingOptions {
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

/**
 * Registers OpenTelemetry's SDK, which is loaded only here. Returns a function that exports pending spans within a time
 * limit and turns traces off. It resolves to true if all were accepted.
 */
const startTracing = async (options: TracingOptions): Promise<() => Promise<boolean>> => {
  const [api, sdk, { W3CTraceContextPropagator }, { AsyncLocalStorageContextManager }, resources, exporters] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/core'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
  const exporter = new exporters.OTLPTraceExporter({
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
    spanLimits: { attributeValueLengthLimit: TEXT_CHARACTERS_MAX },
    resource: resources.resourceFromAttributes({
      'service.namespace': 'svc',
      'service.instance.id': randomUUID(),
      ...options.resourceAttributes,
      'service.name': options.service,
    }),
    spanProcessors: [processor],
  });
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  api.trace.setGlobalTracerProvider(provider);
  return async () => {
    for (const part of [api.trace, api.propagation, api.context]) part.disable();
    return await within(FLUSH_TIMEOUT_MS, provider.shutdown());
  };
};

/** Reports the result of every batch, which the SDK itself does not, and exports only what is allowed. */
const reporting = (exporter: SpanExporter, onExport: TracingOptions['onExport']): SpanExporter => ({
  export: (spans, done) =>
    exporter.export(spans.map(allowListed), (result) => {
      onExport(result.code === 0 ? undefined : (result.error ?? new Error('the collector refused a batch of spans')));
      done(result);
    }),
  shutdown: () => exporter.shutdown(),
});

/**
 * Allowed attributes of a span, named by OpenTelemetry's semantic conventions if those define one. Others are dropped, so
 * that a header, query or body passed in by mistake is not exported. None may ever hold a token, secret, address, prompt
 * or answer.
 */
const ALLOWED: ReadonlySet<string> = new Set([
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
]);

/** Returns a view of a span without other attributes, events, links or messages. Events and links have attributes too. */
export const allowListed = (span: ReadableSpan): ReadableSpan => {
  const attributes = Object.fromEntries(
    Object.entries(span.attributes).filter(
      ([name, value]) => ALLOWED.has(name) && (typeof value === 'string' || typeof value === 'number'),
    ),
  );
  return Object.create(span, {
    attributes: { value: attributes },
    events: { value: [] },
    links: { value: [] },
    status: { value: { code: span.status.code } },
  });
};

/** Parses `name=value,name=value` with percent-encoded values, the format of OpenTelemetry's variables. */
export const parsePairs = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      const at = pair.indexOf('=');
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decode(pair.slice(at + 1).trim())]];
    }),
  );

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
