import { REVOCATION_SUBJECT_PREFIX, REVOCATIONS_BUCKET, REVOCATIONS_STREAM } from '@svc/contracts';
import { consumerOpts, type JetStreamSubscription, type JsMsg, nuid } from 'nats';
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
const OPERATION_HEADER = 'KV-Operation';
const NANOSECONDS_PER_MILLISECOND = 1_000_000;

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
  const { created, state: stored } = await messaging.manager.streams.info(REVOCATIONS_STREAM);
  const loaded = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<void>();
  // The load may fail before it is awaited.
  loaded.promise.catch(() => undefined);
  if (stored.messages === 0) loaded.resolve();
  const state = { lastSeq: 0, hasEnded: false, isLoading: true };
  const timer = setTimeout(() => loaded.reject(new Error('the bucket stopped loading')), SILENCE_MAX_MS);
  const onMessage = (error: Error | null, message: JsMsg | null): void => {
    if (error !== null) {
      messaging.logger.warn({ bucket: REVOCATIONS_BUCKET, err: error }, 'the watch of revocations failed');
      finished.resolve();
    }
    if (message === null) return;
    const { streamSequence, timestampNanos, pending } = message.info;
    addEntry(messaging, entries, message, Math.floor(timestampNanos / NANOSECONDS_PER_MILLISECOND));
    state.lastSeq = Math.max(state.lastSeq, streamSequence);
    if (!state.isLoading) return;
    timer.refresh();
    if (pending === 0 || streamSequence >= stored.last_seq) loaded.resolve();
  };
  try {
    const subscription = await subscribe(messaging, onMessage);
    const ended = Promise.race([subscription.closed, finished.promise])
      .catch(() => undefined)
      .then(() => {
        state.hasEnded = true;
        subscription.unsubscribe();
        loaded.reject(new Error('the watch of revocations ended'));
      });
    await loaded.promise.catch((error: unknown) => {
      finished.resolve();
      throw error;
    });
    // The newest entries may be gone from the bucket, and then none has this number.
    state.lastSeq = Math.max(state.lastSeq, stored.last_seq);
    return {
      created: String(created),
      lastSeq: () => state.lastSeq,
      hasEnded: () => state.hasEnded,
      ended,
      stop: finished.resolve,
    };
  } finally {
    state.isLoading = false;
    clearTimeout(timer);
  }
};

/**
 * Subscribes to all entries from the first one. The client's `watch` of a bucket would pass each through an iterator, and have the
 * server list the last entry of each key, of which it keeps no other.
 */
const subscribe = (
  { jetstream }: Messaging,
  onMessage: (error: Error | null, message: JsMsg | null) => void,
): Promise<JetStreamSubscription> => {
  const options = consumerOpts()
    .consumerName(nuid.next())
    .bindStream(REVOCATIONS_STREAM)
    .filterSubject(`${REVOCATION_SUBJECT_PREFIX}>`)
    .orderedConsumer()
    .deliverAll()
    .callback(onMessage);
  return jetstream.subscribe(`${REVOCATION_SUBJECT_PREFIX}>`, options);
};

const addEntry = ({ logger }: Messaging, entries: RevocationEntries, message: JsMsg, createdMs: number): void => {
  // Only the marks of deleted keys have headers that matter.
  if (message.headers?.has(OPERATION_HEADER)) return;
  const key = copyOf(message.subject, REVOCATION_SUBJECT_PREFIX.length);
  if (!entries.add(key, message.string(), createdMs)) {
    logger.error({ revocation: key }, 'a revocation breaks its contract');
  }
};

const scratch = Buffer.alloc(4_096);

/** Copies the end of a text, since a slice would keep all of it in memory. */
const copyOf = (text: string, from: number): string => {
  const length = scratch.write(text, 'latin1');
  return scratch.toString('latin1', from, length);
};
