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

interface State {
  readonly lastSequences: Map<string, number>;
  readonly markers: Set<string>;
  readonly snapshots: Map<string, SnapshotPlace>;
}

/**
 * Keeps a receiver's state in memory, for tests and first steps. The handler gets no transaction, and events are
 * processed one at a time.
 */
export const createMemoryWebhookStore = (): WebhookStore<undefined> => {
  let state: State = { lastSequences: new Map(), markers: new Set(), snapshots: new Map() };
  let last: Promise<unknown> = Promise.resolve();

  const inTransaction = async <T>(work: (trx: undefined) => Promise<T>): Promise<T> => {
    const before = copy(state);
    try {
      return await work(undefined);
    } catch (error) {
      state = before;
      throw error;
    }
  };

  return {
    inTransaction: (work) => {
      const turn = last.then(() => inTransaction(work));
      // The next event waits until this one has ended, failed or not.
      last = turn.catch(() => undefined);
      return turn;
    },
    lockIntegration: async (_trx, integrationId) => state.lastSequences.get(integrationId),
    insertMarker: async (_trx, { integrationId, eventId }) => {
      const key = JSON.stringify([integrationId, eventId]);
      if (state.markers.has(key)) return false;
      state.markers.add(key);
      return true;
    },
    takeSnapshotPlace: async (_trx, place) => {
      const key = JSON.stringify([place.integrationId, place.svcUserId]);
      const known = state.snapshots.get(key);
      if (known !== undefined && isLater(known, place)) return false;
      state.snapshots.set(key, place);
      return true;
    },
    updateLastSequence: async (_trx, integrationId, sequence) => {
      state.lastSequences.set(integrationId, sequence);
    },
  };
};

const isLater = (one: SnapshotPlace, other: SnapshotPlace): boolean =>
  one.revision > other.revision || (one.revision === other.revision && one.sequence > other.sequence);

const copy = ({ lastSequences, markers, snapshots }: State): State => ({
  lastSequences: new Map(lastSequences),
  markers: new Set(markers),
  snapshots: new Map(snapshots),
});
