import type { Dispatcher } from 'undici';
import type { BillingClient } from '../billing-client.ts';
import type { InFlight } from '../in-flight.ts';
import type { UpstreamLimits } from '../providers/index.ts';
import type { RouteTable } from '../routes/index.ts';
import type { StreamLimits } from '../streaming/index.ts';
import type { UsageWriter } from '../usage-records/index.ts';

/** What delegated inference works with. */
export interface DelegatedDeps {
  readonly billing: BillingClient;
  readonly usage: UsageWriter;
  readonly routes: () => RouteTable;
  readonly dispatcher: Dispatcher;
  readonly inFlight: InFlight;
  readonly upstreamLimits: UpstreamLimits;
  readonly streamLimits: StreamLimits;
  readonly ingressRegion: string;
  /** Output tokens that a request without a limit of its own is expected to need. */
  readonly defaultOutputTokens: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}
