import { setMaxListeners } from 'node:events';
import type { WebhookEnvelope } from '@svc/partner-sdk/server';

/** Maximum entries of each kind; the oldest are evicted. */
const ENTRIES_MAX = 100;

/** An unverified delivery as it was sent. */
export interface RawEntry {
  readonly signature: string | null;
  /** Content type and signature headers, those of Standard Webhooks included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A received delivery. */
export interface InboxEntry {
  /** Counts up from 1. */
  readonly id: number;
  readonly receivedAt: Date;
  /** True if the SDK verified it with this app's signing secret. Unverified deliveries may come from any sender. */
  readonly isVerified: boolean;
  /** Null if an unverified body is not an envelope. */
  readonly envelope: Partial<WebhookEnvelope> | null;
  /** Set on unverified deliveries, so that they can be verified elsewhere. */
  readonly raw: RawEntry | undefined;
}

export interface InboxFilter {
  /** Only entries after this one. */
  readonly after?: number | undefined;
  /** Only entries for this app. */
  readonly integrationId?: string | undefined;
}

/** Recent deliveries, newest first. */
export interface Inbox {
  readonly add: (entry: Omit<InboxEntry, 'id' | 'receivedAt'>) => void;
  readonly list: (filter?: InboxFilter) => readonly InboxEntry[];
  /** Returns the result of `list` once it is not empty or the signal aborts. */
  readonly waitFor: (filter: InboxFilter, signal: AbortSignal) => Promise<readonly InboxEntry[]>;
}

/**
 * Keeps deliveries in memory, verified and unverified ones separately, so that unverified ones cannot evict verified
 * ones.
 */
export const createInbox = ({ clock }: { clock: () => Date }): Inbox => {
  let verified: readonly InboxEntry[] = [];
  let unverified: readonly InboxEntry[] = [];
  let lastId = 0;
  const arrivals = new EventTarget();
  // One listener per open page.
  setMaxListeners(0, arrivals);
  const list = ({ after = 0, integrationId }: InboxFilter = {}): readonly InboxEntry[] =>
    [...verified, ...unverified]
      // A cursor beyond the last id dates from before a restart.
      .filter(({ id }) => id > after || after > lastId)
      .filter(({ envelope }) => integrationId === undefined || envelope?.integration_id === integrationId)
      .sort((one, other) => other.id - one.id);
  return {
    add: (entry) => {
      lastId += 1;
      const received = { ...entry, id: lastId, receivedAt: clock() };
      if (entry.isVerified) verified = [received, ...verified].slice(0, ENTRIES_MAX);
      else unverified = [received, ...unverified].slice(0, ENTRIES_MAX);
      arrivals.dispatchEvent(new Event('arrival'));
    },
    list,
    waitFor: async (filter, signal) => {
      for (;;) {
        const found = list(filter);
        if (found.length > 0 || signal.aborted) return found;
        await nextArrival(arrivals, signal);
      }
    },
  };
};

const nextArrival = (arrivals: EventTarget, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const proceed = (): void => {
      arrivals.removeEventListener('arrival', proceed);
      signal.removeEventListener('abort', proceed);
      resolve();
    };
    arrivals.addEventListener('arrival', proceed);
    signal.addEventListener('abort', proceed);
  });
