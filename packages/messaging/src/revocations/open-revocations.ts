import { setTimeout as sleep } from 'node:timers/promises';
import { REVOCATIONS_BUCKET, REVOCATIONS_STREAM } from '@svc/contracts';
import type { KvEntry, QueuedIterator } from 'nats';
import type { Messaging } from '../connection/connect-messaging.ts';
import { createEntries, type RevocationEntries, type RevocationView } from './revocation-entries.ts';

const LOAD_TIMEOUT_MS = 10_000;
const RETRY_MS = 250;
const CHECK_INTERVAL_MS = 5_000;
const EXPIRE_INTERVAL_MS = 60_000;

/** For tests. */
export interface RevocationsOptions {
  readonly clock?: (() => Date) | undefined;
  readonly checkIntervalMs?: number | undefined;
}

interface Watch {
  readonly iterator: QueuedIterator<KvEntry>;
  /** When the bucket's stream was made. */
  readonly created: string;
  /** Sequence number of the newest entry seen. */
  lastSeq: number;
  /** The bucket's newest sequence number at the last look, which has had time to arrive by the next. */
  expectedSeq: number;
  /** Settles when the watch ends. */
  readonly ended: Promise<void>;
}

interface ViewState {
  readonly messaging: Messaging;
  readonly entries: RevocationEntries;
  readonly signal: AbortSignal;
  watch: Watch | undefined;
  live: boolean;
}

/**
 * Loads every revocation, then follows new ones; resolves once all are loaded, trying as long as it takes. Loses nothing
 * that it knows while NATS is away, and loads everything again afterwards, also from a bucket made anew.
 */
export const openRevocations = async (
  messaging: Messaging,
  options: RevocationsOptions = {},
): Promise<RevocationView> => {
  const clock = options.clock ?? (() => new Date());
  const stopping = new AbortController();
  const entries = createEntries(clock);
  const state: ViewState = { messaging, entries, signal: stopping.signal, watch: undefined, live: false };
  await load(state);
  // A new connection may lead to another server or to an emptied one.
  const forgetReconnect = messaging.onReconnect(() => void endWatch(state));
  const following = follow(state, options.checkIntervalMs ?? CHECK_INTERVAL_MS);
  const expiring = setInterval(() => messaging.meters.revocationsKept(entries.expire()), EXPIRE_INTERVAL_MS);
  expiring.unref();
  return {
    isRevoked: entries.isRevoked,
    isSuperseded: entries.isSuperseded,
    isConnected: () => state.live && messaging.isConnected(),
    remember(key, value) {
      entries.add(key, JSON.stringify(value ?? {}), clock().getTime());
    },
    async stop() {
      stopping.abort();
      clearInterval(expiring);
      forgetReconnect();
      endWatch(state);
      await following;
    },
  };
};

/** Starts a watch and waits until it has delivered all that is there; repeats until that succeeds. */
const load = async (state: ViewState): Promise<void> => {
  while (!state.signal.aborted) {
    try {
      if (state.messaging.isConnected()) {
        state.watch = await startWatchWhileConnected(state);
        setLive(state, true);
        return;
      }
    } catch (error) {
      state.messaging.logger.warn(
        { bucket: REVOCATIONS_BUCKET, err: error },
        'revocations cannot be loaded; trying again',
      );
    }
    setLive(state, false);
    await sleep(RETRY_MS, undefined, { signal: state.signal }).catch(() => undefined);
  }
};

const startWatchWhileConnected = async (state: ViewState): Promise<Watch> => {
  const starting = startWatch(state);
  try {
    return await state.messaging.untilDisconnect(starting);
  } catch (error) {
    starting.then(
      (watch) => watch.iterator.stop(),
      () => undefined,
    );
    throw error;
  }
};

const startWatch = async (state: ViewState): Promise<Watch> => {
  const { messaging } = state;
  const info = await messaging.manager.streams.info(REVOCATIONS_STREAM);
  const bucket = await messaging.jetstream.views.kv(REVOCATIONS_BUCKET, { bindOnly: true });
  const loaded = Promise.withResolvers<void>();
  const iterator = await bucket.watch({ initializedFn: () => loaded.resolve() });
  const reading = Promise.withResolvers<void>();
  const watch: Watch = { iterator, created: String(info.created), lastSeq: 0, expectedSeq: 0, ended: reading.promise };
  void read(state, watch).finally(reading.resolve);
  const timer = setTimeout(() => loaded.reject(new Error('the bucket did not load in time')), LOAD_TIMEOUT_MS);
  try {
    await loaded.promise;
    return watch;
  } catch (error) {
    iterator.stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
};

const read = async (state: ViewState, watch: Watch): Promise<void> => {
  try {
    for await (const entry of watch.iterator) {
      watch.lastSeq = Math.max(watch.lastSeq, entry.revision);
      if (entry.operation !== 'PUT') continue;
      const known = state.entries.add(entry.key, entry.string(), entry.created.getTime());
      if (!known) state.messaging.logger.error({ revocation: entry.key }, 'a revocation is not as the contract says');
    }
  } catch (error) {
    state.messaging.logger.warn({ bucket: REVOCATIONS_BUCKET, err: error }, 'the watch of revocations broke');
  }
};

/** Replaces a watch that ended or fell behind, until stopped. */
const follow = async (state: ViewState, checkIntervalMs: number): Promise<void> => {
  while (!state.signal.aborted) {
    const { watch } = state;
    if (watch === undefined) {
      await load(state);
      continue;
    }
    await Promise.race([
      watch.ended,
      sleep(checkIntervalMs, undefined, { signal: state.signal }).catch(() => undefined),
    ]);
    if (state.signal.aborted) return;
    if (state.watch !== watch || !(await isCurrent(state, watch))) {
      setLive(state, false);
      endWatch(state);
      await load(state);
    }
  }
};

/** Whether the watch follows the bucket that exists, to its end. */
const isCurrent = async (state: ViewState, watch: Watch): Promise<boolean> => {
  if (!state.messaging.isConnected()) return false;
  try {
    const info = await state.messaging.untilDisconnect(state.messaging.manager.streams.info(REVOCATIONS_STREAM));
    const isBehind = watch.lastSeq < watch.expectedSeq && info.state.messages > 0;
    watch.expectedSeq = info.state.last_seq;
    return String(info.created) === watch.created && !isBehind;
  } catch {
    return false;
  }
};

const endWatch = (state: ViewState): void => {
  state.watch?.iterator.stop();
  state.watch = undefined;
};

const setLive = (state: ViewState, live: boolean): void => {
  state.live = live;
  state.messaging.meters.revocationsConnected(live);
};
