import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** A metric's name, help text and labels. Labels must be bounded: never an id, an address or a path. */
interface MetricOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly L[];
}

/** Gauge that can be read at scrape time. */
interface GaugeOptions<L extends string> extends MetricOptions<L> {
  /** Returns the value at each scrape; for gauges without labels. */
  readonly read?: () => number | Promise<number>;
}

/** Buckets in the metric's unit. */
interface HistogramOptions<L extends string> extends MetricOptions<L> {
  readonly buckets: readonly number[];
}

/** Measurements of one HTTP request. */
interface ObservedRequest {
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/** The metrics of one service. A repeated name returns the existing metric. */
export interface Metrics {
  readonly registry: Registry;
  readonly counter: <L extends string = never>(options: MetricOptions<L>) => Counter<L>;
  readonly gauge: <L extends string = never>(options: GaugeOptions<L>) => Gauge<L>;
  readonly histogram: <L extends string = never>(options: HistogramOptions<L>) => Histogram<L>;
  readonly observeRequest: (request: ObservedRequest) => void;
  /** Renders the text that Prometheus scrapes. */
  readonly render: () => Promise<{ contentType: string; body: string }>;
}

/** Seconds; up to the length of a long stream. */
const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const HTTP_LABELS = ['operation', 'method', 'status'] as const;

/**
 * Creates the metrics of a service: process, event-loop delay, HTTP, and factories for its own. Process metrics are
 * collected from then on, so only one registry should set `isOfProcess`.
 */
export const createMetrics = (service: string, { isOfProcess = true } = {}): Metrics => {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  if (isOfProcess) collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const known = new Map<string, unknown>();
  const once = <M>(name: string, make: () => M): M => {
    const metric = known.get(name) ?? make();
    known.set(name, metric);
    // A name is never reused for another kind of metric.
    return metric as M;
  };
  const counter: Metrics['counter'] = ({ name, help, labelNames = [] }) =>
    once(name, () => new Counter({ name, help, labelNames, registers }));
  const gauge: Metrics['gauge'] = ({ name, help, labelNames = [], read }) =>
    once(
      name,
      () =>
        new Gauge({ name, help, labelNames, registers, ...(read === undefined ? {} : { collect: readInto(read) }) }),
    );
  const histogram: Metrics['histogram'] = ({ name, help, labelNames = [], buckets }) =>
    once(name, () => new Histogram({ name, help, labelNames, buckets: [...buckets], registers }));
  return {
    registry,
    counter,
    gauge,
    histogram,
    observeRequest: createRequestObserver(counter, histogram),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
};

const readInto = (read: () => number | Promise<number>) =>
  async function collect(this: Gauge<string>): Promise<void> {
    this.set(await read());
  };

const createRequestObserver = (counter: Metrics['counter'], histogram: Metrics['histogram']) => {
  const requests = counter({ name: 'http_requests_total', help: 'HTTP requests answered.', labelNames: HTTP_LABELS });
  const seconds = histogram({
    name: 'http_request_duration_seconds',
    help: 'Seconds from the request head to the end of the answer.',
    labelNames: HTTP_LABELS,
    buckets: REQUEST_SECONDS,
  });
  const bind = (operation: string, method: string, status: number) => {
    const labels = { operation, method, status: String(status) };
    return { requests: requests.labels(labels), seconds: seconds.labels(labels) };
  };
  // Looking a metric up by labels takes longer than counting, so each label set is looked up once.
  const bound = new Map<string, ReturnType<typeof bind>>();
  return ({ operation, status, ...request }: ObservedRequest): void => {
    // Callers choose the method; an unknown one must not become a label.
    const method = METHODS.has(request.method) ? request.method : 'other';
    const name = `${operation} ${method} ${status}`;
    const metrics = bound.get(name) ?? bind(operation, method, status);
    bound.set(name, metrics);
    metrics.requests.inc();
    metrics.seconds.observe(request.seconds);
  };
};
