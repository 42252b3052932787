/** Record of a processed event. */
export interface EventMarker {
  readonly integrationId: string;
  readonly eventId: string;
  readonly event: string;
  readonly sequence: number;
}

/** Position of a subscription snapshot among the snapshots of the same user. */
export interface SnapshotPlace {
  readonly integrationId: string;
  readonly svcUserId: string;
  readonly revision: number;
  readonly sequence: number;
}

/**
 * Storage of a receiver. `Trx` is the transaction of the handler: marker and handler's work are committed together or
 * not at all.
 */
export interface WebhookStore<Trx> {
  /** Commits when `work` resolves; rolls back and rejects when it rejects. */
  inTransaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /**
   * Locks the integration until the transaction ends, across workers and processes. Returns the highest processed
   * sequence, or undefined before the first event.
   */
  lockIntegration(trx: Trx, integrationId: string): Promise<number | undefined>;
  /** Records an event. Returns false if it was recorded before. */
  insertMarker(trx: Trx, marker: EventMarker): Promise<boolean>;
  /** Records a snapshot. Returns false, without a change, if a later one of this user was recorded before. */
  takeSnapshotPlace(trx: Trx, place: SnapshotPlace): Promise<boolean>;
  /** Records the highest processed sequence. */
  updateLastSequence(trx: Trx, integrationId: string, sequence: number): Promise<void>;
}
