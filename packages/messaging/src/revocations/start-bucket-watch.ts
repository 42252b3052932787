import { REVOCATIONS_BUCKET, REVOCATIONS_STREAM } from '@svc/contracts';
import type { KvEntry, QueuedIterator } from 'nats';
import type { Messaging } from '../connection/connect-messaging.ts';
import type { RevocationEntries } from './revocation-entries.ts';

/** A watch of the bucket that has delivered all entries stored before it. */
export interface BucketWatch {
  readonly created: string;
  /** Sequence number up to which every entry has arrived. */
  readonly lastSeq: () => number;
  readonly hasEnded: () => boolean;
  /** Resolves when the watch ends. */
  readonly ended: Promise<void>;
  readonly stop: () => void;
}

/** A load in which nothing arrives for this long has failed. A million entries take longer in all. */
const SILENCE_MAX_MS = 10_000;

/** Starts a watch. Rejects if the connection is lost or entries stop arriving. */
export const startBucketWatch = async (messaging: Messaging, entries: RevocationEntries): Promise<BucketWatch> => {
  const starting = watchBucket(messaging, entries);
  try {
    return await messaging.untilDisconnect(starting);
  } catch (error) {
    starting.then(
      (watch) => watch.stop(),
      () => undefined,
    );
    throw error;
  }
};

const watchBucket = async (messaging: Messaging, entries: RevocationEntries): Promise<BucketWatch> => {
  const info = await messaging.manager.streams.info(REVOCATIONS_STREAM);
  const bucket = await messaging.jetstream.views.kv(REVOCATIONS_BUCKET, { bindOnly: true });
  const loaded = Promise.withResolvers<void>();
  const iterator = await bucket.watch({ initializedFn: () => loaded.resolve() });
  const state = { lastSeq: 0, hasEnded: false };
  const timer = setTimeout(() => loaded.reject(new Error('the bucket stopped loading')), SILENCE_MAX_MS);
  let isLoading = true;
  const onEntry = (): void => {
    if (isLoading) timer.refresh();
  };
  const ended = readEntries(messaging, { iterator, entries, state, onEntry });
  try {
    await loaded.promise;
  } catch (error) {
    iterator.stop();
    throw error;
  } finally {
    isLoading = false;
    clearTimeout(timer);
  }
  // The newest entries may be gone from the bucket, and then none has this number.
  state.lastSeq = Math.max(state.lastSeq, info.state.last_seq);
  return {
    created: String(info.created),
    lastSeq: () => state.lastSeq,
    hasEnded: () => state.hasEnded,
    ended,
    stop: () => iterator.stop(),
  };
};

interface Reading {
  readonly iterator: QueuedIterator<KvEntry>;
  readonly entries: RevocationEntries;
  readonly state: { lastSeq: number; hasEnded: boolean };
  readonly onEntry: () => void;
}

const readEntries = async (messaging: Messaging, { iterator, entries, state, onEntry }: Reading): Promise<void> => {
  try {
    for await (const entry of iterator) {
      state.lastSeq = Math.max(state.lastSeq, entry.revision);
      onEntry();
      if (entry.operation !== 'PUT') continue;
      const isKnown = entries.add(entry.key, entry.string(), entry.created.getTime());
      if (!isKnown) messaging.logger.error({ revocation: entry.key }, 'a revocation breaks its contract');
    }
  } catch (error) {
    messaging.logger.warn({ bucket: REVOCATIONS_BUCKET, err: error }, 'the watch of revocations failed');
  } finally {
    state.hasEnded = true;
  }
};
