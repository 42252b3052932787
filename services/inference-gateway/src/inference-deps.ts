import type { BillingClient } from './billing-client.ts';
import type { CompletionMeters } from './completions/index.ts';
import type { Holder } from './holder.ts';
import type { InFlight } from './in-flight.ts';
import type { jsonTaskTable } from './json-task-table.ts';
import type { JsonTasks, TextMemory } from './large-json/index.ts';
import type { LeaseBook } from './leases/index.ts';
import type { SignProvenance } from './provenance.ts';
import type { UpstreamDeps } from './providers/index.ts';
import type { RouteTable } from './routes/index.ts';
import type { OpenStreams, StreamLimits } from './streaming/index.ts';
import type { UsageWriter } from './usage-records/index.ts';

/** Dependencies of delegated inference and of the API-key gateway. */
export interface InferenceDeps extends UpstreamDeps {
  readonly billing: BillingClient;
  readonly holder: Pick<Holder, 'id'>;
  readonly usage: UsageWriter;
  readonly routes: () => RouteTable;
  readonly inFlight: InFlight;
  readonly streams: OpenStreams;
  readonly streamLimits: StreamLimits;
  readonly ingressRegion: string;
  /** Currency of prices. */
  readonly currency: string;
  /** URL of the console page where users manage the budgets of their apps. */
  readonly manageUrl: string;
  /** URL of the console page where users choose a plan. */
  readonly plansUrl: string;
  readonly json: JsonTasks<typeof jsonTaskTable>;
  readonly requestMemory: TextMemory;
  /** Separate from the memory of requests: those wait for answers, so sharing it could deadlock. */
  readonly answerMemory: TextMemory;
  readonly leases: LeaseBook;
  readonly signProvenance: SignProvenance;
  readonly meters: CompletionMeters;
}
