import type { DerivedKeys, Lifecycle, Logger, Metrics } from '@svc/service-kit';
import type { KeyRequestDeps } from './api-key-requests/key-request-deps.ts';
import type { BillingClient } from './billing-client.ts';
import type { Config } from './config.ts';
import type { DelegatedDeps } from './delegated-requests/delegated-deps.ts';
import type { InFlight } from './forwarding/in-flight.ts';
import { createOpenStreams } from './forwarding/in-flight.ts';
import { createForwardingMeters } from './forwarding/index.ts';
import { openJsonTasks, openRequestMemory, openResponseMemory } from './large-json/index.ts';
import type { LeaseBook, ProcessLease } from './leases/index.ts';
import { createProvenanceSigning } from './provenance.ts';
import type { RoutesInForce } from './provider-routes/index.ts';
import { createProviderClient, createRouteGates, type RouteGates } from './providers/index.ts';
import type { UsageWriter } from './usage-records/index.ts';
import { jsonTasks } from './worker.ts';

/** Generous: providers send events of up to about a megabyte. */
const EVENT_BYTES_MAX = 4 * 1024 * 1024;
/** The worker's module is next to this one, both in the source tree and in a bundle. */
const WORKER_FILE = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url).href;
/** Slightly less than the timeout of a shutdown step. */
const STOP_STEP_MS = 9_000;

interface InferenceOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly billing: BillingClient;
  readonly holder: ProcessLease;
  readonly inFlight: InFlight;
  readonly usage: UsageWriter;
  readonly routes: RoutesInForce;
  readonly leases: LeaseBook;
  readonly proofKeys: DerivedKeys;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Opens what the requests of apps and of API keys share. */
export const openInference = (life: Lifecycle, options: InferenceOptions): DelegatedDeps & KeyRequestDeps => {
  const { config, logger, clock, billing, holder, inFlight, usage, routes, leases, proofKeys } = options;
  const json = openJsonTasks({ tasks: jsonTasks, workerFile: WORKER_FILE, logger, metrics: options.metrics });
  life.onStop('JSON workers', () => json.close());
  const providers = createProviderClient({ connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS });
  life.onStop('providers', () => providers.close());
  life.onStop('requests whose callers have left', () => inFlight.idle(STOP_STEP_MS));
  return {
    billing,
    holder,
    usage,
    routes: routes.table,
    providers,
    gates: openGates(options),
    inFlight,
    streams: createOpenStreams(options.metrics),
    upstreamLimits: {
      firstByteTimeoutMs: config.UPSTREAM_FIRST_BYTE_TIMEOUT_MS,
      idleTimeoutMs: config.UPSTREAM_IDLE_TIMEOUT_MS,
      totalTimeoutMs: config.UPSTREAM_TOTAL_TIMEOUT_MS,
    },
    streamLimits: {
      eventBytesMax: EVENT_BYTES_MAX,
      clientIdleTimeoutMs: config.CLIENT_IDLE_TIMEOUT_MS,
      keepAliveMs: config.STREAM_KEEP_ALIVE_MS,
    },
    ingressRegion: config.INGRESS_REGION,
    currency: config.BILLING_CURRENCY,
    manageUrl: `${config.PUBLIC_BASE_URL}/connections`,
    plansUrl: `${config.PUBLIC_BASE_URL}/plans`,
    json,
    requestMemory: openRequestMemory(),
    responseMemory: openResponseMemory(),
    leases,
    signProvenance: createProvenanceSigning({ issuer: config.PUBLIC_BASE_URL, keys: proofKeys, clock }),
    meters: createForwardingMeters(options.metrics),
    clock,
  };
};

const openGates = ({ config, clock, logger, metrics }: InferenceOptions): RouteGates => {
  const limits = {
    inFlightMax: config.ROUTE_IN_FLIGHT_MAX,
    failuresMax: config.ROUTE_FAILURES_MAX,
    pauseMs: config.ROUTE_PAUSE_MS,
  };
  return createRouteGates({ limits, clock, logger, metrics });
};
