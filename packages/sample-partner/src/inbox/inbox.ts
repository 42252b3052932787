import { setMaxListeners } from 'node:events';
import type { WebhookEnvelope } from '@svc/partner-sdk';

/** Of each kind; the oldest go first. */
const ENTRIES_MAX = 100;

/** A delivery that came to us. */
export interface InboxEntry {
  /** Counts up from 1. */
  readonly id: number;
  readonly receivedAt: Date;
  /** Whether the SDK has verified it with this app's signing secret. What is not verified may come from anybody. */
  readonly isVerified: boolean;
  /** Null where an unverified body is no envelope. */
  readonly envelope: Partial<WebhookEnvelope> | null;
  /** Of an unverified delivery only: what one needs to verify it elsewhere. */
  readonly raw: { readonly signature: string | null; readonly body: string } | undefined;
}

/** Which entries are wanted. */
export interface InboxFilter {
  /** Entries that came after this one only. */
  readonly after?: number | undefined;
  /** Entries for this app only. */
  readonly integrationId?: string | undefined;
}

/** Deliveries of late, newest first. */
export interface Inbox {
  add(entry: Omit<InboxEntry, 'id' | 'receivedAt'>): void;
  list(filter?: InboxFilter): readonly InboxEntry[];
  /** What `list` answers, as soon as that is something, or the signal aborts. */
  waitFor(filter: InboxFilter, signal: AbortSignal): Promise<readonly InboxEntry[]>;
}

/** Keeps deliveries in this process, verified and unverified ones apart, so that nobody can push the verified ones out. */
export const createInbox = ({ clock }: { clock: () => Date }): Inbox => {
  let verified: readonly InboxEntry[] = [];
  let unverified: readonly InboxEntry[] = [];
  let lastId = 0;
  const arrivals = new EventTarget();
  // As many may wait as have a page open.
  setMaxListeners(0, arrivals);
  const list = ({ after = 0, integrationId }: InboxFilter = {}): readonly InboxEntry[] =>
    [...verified, ...unverified]
      // Who has seen more than there ever was has seen it before a restart.
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
