import type { Metrics } from '@svc/service-kit';
import type { JsonTasks, TextMemory } from '../large-json/index.ts';
import type { SignProvenance } from '../provenance.ts';
import type { RouteTable } from '../provider-routes/index.ts';
import type { UpstreamDeps } from '../providers/index.ts';
import type { StreamLimits } from '../streaming/index.ts';
import type { UsageWriter } from '../usage-records/index.ts';
import type { digestRequest } from '../wire/index.ts';
import type { InFlight, OpenStreams } from './in-flight.ts';

/** Dependencies of every request that is forwarded. Those of its kind of caller come on top. */
export interface ForwardingDeps extends UpstreamDeps {
  readonly usage: UsageWriter;
  readonly routes: () => RouteTable;
  readonly inFlight: InFlight;
  readonly streams: OpenStreams;
  readonly streamLimits: StreamLimits;
  readonly ingressRegion: string;
  readonly json: JsonTasks<{ readonly digestRequest: typeof digestRequest }>;
  readonly requestMemory: TextMemory;
  /** Separate from the memory of requests: those wait for responses, so sharing it could deadlock. */
  readonly responseMemory: TextMemory;
  readonly signProvenance: SignProvenance;
  readonly meters: ForwardingMeters;
}

export interface ForwardingMeters {
  readonly implausibleUsage: ReturnType<Metrics['counter']>;
}

export const createForwardingMeters = (metrics: Metrics): ForwardingMeters => ({
  implausibleUsage: metrics.counter({
    name: 'upstream_usage_implausible_total',
    help: 'Answers with implausible usage reported by the provider; charged by their bytes instead.',
    labelNames: ['route'],
  }),
});
