/** Name of work on many items, in the log, the metrics and the table of deferred items. */
export type Work =
  | 'account_endings'
  | 'automatic_charges'
  | 'automatic_top_ups'
  | 'checkouts'
  | 'events'
  | 'gauges'
  | 'invoices'
  | 'refunds'
  | 'seats'
  | 'subscriptions';

/** Work that runs periodically, apart from all other work. */
export interface Job {
  readonly name: Work;
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
}

/** An object of the payment provider that cannot be understood. It concerns one item only, and may be mended later. */
export class UnreadableObject extends Error {
  override readonly name = 'UnreadableObject';
  readonly reason: UnreadableReason;

  constructor(reason: UnreadableReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** `shape`: a member is missing. `status`, `price`: unknown ones. `missing`: the provider knows no such object. */
export type UnreadableReason = 'shape' | 'status' | 'price' | 'missing';
