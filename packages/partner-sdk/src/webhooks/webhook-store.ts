/** An event's marker: it was processed. */
export interface EventMarker {
  readonly integrationId: string;
  readonly eventId: string;
  readonly event: string;
  readonly sequence: number;
}

/** The place of a subscription's snapshot among the snapshots of the same user. */
export interface SnapshotPlace {
  readonly integrationId: string;
  readonly svcUserId: string;
  readonly revision: number;
  readonly sequence: number;
}

/**
 * Where a receiver keeps what it has processed. `Trx` is the transaction that the handler works in too: the marker and the
 * handler's work are committed together or not at all.
 */
export interface WebhookStore<Trx> {
  /** Commits when `work` resolves; rolls back, and rejects, when it rejects. */
  inTransaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /**
   * Locks the integration until the transaction ends, against other workers and processes too, and answers the highest
   * sequence that was processed; undefined before the first event.
   */
  lockIntegration(trx: Trx, integrationId: string): Promise<number | undefined>;
  /** Notes an event; answers false where it was noted before. */
  insertMarker(trx: Trx, marker: EventMarker): Promise<boolean>;
  /** Notes a snapshot's place; answers false, and changes nothing, where a later one of this user was noted before. */
  takeSnapshotPlace(trx: Trx, place: SnapshotPlace): Promise<boolean>;
  /** Notes the highest sequence that was processed. */
  updateLastSequence(trx: Trx, integrationId: string, sequence: number): Promise<void>;
}
