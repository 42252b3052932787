import type { BillingClient } from './billing/index.ts';
import type { InFlight } from './in-flight.ts';
import type { UpstreamDeps } from './providers/index.ts';
import type { RouteTable } from './routes/index.ts';
import type { OpenStreams, StreamLimits } from './streaming/index.ts';
import type { UsageWriter } from './usage-records/index.ts';

/** What both kinds of inference work with. */
export interface InferenceDeps extends UpstreamDeps {
  readonly billing: BillingClient;
  readonly usage: UsageWriter;
  readonly routes: () => RouteTable;
  readonly inFlight: InFlight;
  readonly streams: OpenStreams;
  readonly streamLimits: StreamLimits;
  readonly ingressRegion: string;
  /** Output tokens that an answer without a limit of its own is expected to need. */
  readonly defaultOutputTokens: number;
  /** The most output tokens that a request can be expected to need, whatever it says. */
  readonly outputTokensMax: number;
}
