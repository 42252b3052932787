import { appendFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as received. */
export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The unparsed span. */
  readonly text: string;
}

/** Stand-in for a collector that speaks OTLP over HTTP, in JSON. */
export interface TraceCollector {
  readonly url: string;
  /** Settings of a process that sends it every trace. */
  readonly settings: TraceSettings;
  readonly spans: readonly CollectedSpan[];
  /** Headers of the last batch. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly close: () => Promise<void>;
}

/** Trace settings of a service, by the names of their variables. */
interface TraceSettings {
  readonly OTEL_TRACES_EXPORTER: undefined;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT: string;
  readonly OTEL_EXPORTER_OTLP_HEADERS: undefined;
  readonly OTEL_EXPORTER_OTLP_TIMEOUT: number;
  readonly OTEL_TRACES_SAMPLER_ARG: '1';
  readonly OTEL_RESOURCE_ATTRIBUTES: undefined;
}

/** Returns the settings of a process that sends every trace to this collector. */
const settingsFor = (url: string): TraceSettings => ({
  OTEL_TRACES_EXPORTER: undefined,
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_HEADERS: undefined,
  OTEL_EXPORTER_OTLP_TIMEOUT: 5_000,
  OTEL_TRACES_SAMPLER_ARG: '1',
  OTEL_RESOURCE_ATTRIBUTES: undefined,
});

export interface TraceCollectorOptions {
  /** Answers each batch instead of storing it. */
  readonly answer?: (res: ServerResponse) => void;
  /** Also appends every batch to this file, one per line, for readers in other processes. */
  readonly file?: string;
}

/** Starts a collector on a free port. */
export const traceCollector = async (options: TraceCollectorOptions = {}): Promise<TraceCollector> => {
  const spans: CollectedSpan[] = [];
  let headers: Readonly<Record<string, unknown>> = {};
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    headers = req.headers;
    if (options.answer !== undefined) {
      options.answer(res);
      return;
    }
    const text = Buffer.concat(chunks).toString();
    if (options.file === undefined) spans.push(...readSpans(text));
    else await appendFile(options.file, `${text}\n`);
    res.setHeader('content-type', 'application/json');
    res.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP server's address is never a path.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    settings: settingsFor(url),
    spans,
    get headers() {
      return headers;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly doubleValue?: number };
}

interface Batch {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, 'attributes' | 'service' | 'text'> & {
        readonly attributes: readonly Attribute[];
      })[];
    }[];
  }[];
}

/** Parses the spans of one batch. */
export const readSpans = (text: string): CollectedSpan[] => {
  // The exporter's own format. A batch of another shape fails the test that reads it.
  const { resourceSpans } = JSON.parse(text) as Batch;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toRecord(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        service,
        parentSpanId: span.parentSpanId || undefined,
        attributes: toRecord(span.attributes),
        text: JSON.stringify(span),
      })),
    );
  });
};

const toRecord = (attributes: readonly Attribute[]): Record<string, string | number> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? '']),
  );
