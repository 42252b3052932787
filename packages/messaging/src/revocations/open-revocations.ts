import { setTimeout as sleep } from 'node:timers/promises';
import { REVOCATIONS_BUCKET, REVOCATIONS_STREAM } from '@svc/contracts';
import { type Clock, runPeriodically, systemClock } from '@svc/service-kit';
import type { Messaging } from '../connection/connect-messaging.ts';
import { createEntries, type RevocationEntries, type RevocationView } from './revocation-entries.ts';
import { type BucketWatch, startBucketWatch } from './start-bucket-watch.ts';

const RETRY_MS = 250;
const CHECK_INTERVAL_MS = 5_000;
const EXPIRE_INTERVAL_MS = 60_000;

/** Overrides for tests. */
export interface RevocationsOptions {
  readonly clock?: Clock | undefined;
  readonly checkIntervalMs?: number | undefined;
}

interface ViewState {
  readonly messaging: Messaging;
  readonly entries: RevocationEntries;
  watch: BucketWatch | undefined;
  isLive: boolean;
}

/**
 * Loads all revocations, retrying without limit, and then follows new ones. Keeps them while NATS is away and loads everything
 * again afterwards, from a recreated bucket as well.
 */
export const openRevocations = async (
  messaging: Messaging,
  options: RevocationsOptions = {},
): Promise<RevocationView> => {
  const { clock = systemClock, checkIntervalMs = CHECK_INTERVAL_MS } = options;
  const { logger, meters } = messaging;
  const entries = createEntries(clock);
  const state: ViewState = { messaging, entries, watch: undefined, isLive: false };
  await load(state, new AbortController().signal);
  const following = runPeriodically({
    name: 'revocations',
    intervalMs: checkIntervalMs,
    run: async (signal) => {
      if (state.watch !== undefined && (await isCurrent(state, state.watch))) return;
      endWatch(state);
      await load(state, signal);
      void state.watch?.ended.then(following.wake);
    },
    logger,
  });
  void state.watch?.ended.then(following.wake);
  // The new connection may lead to another server, or to an empty one.
  const forgetReconnect = messaging.onReconnect(() => endWatch(state));
  const expiring = runPeriodically({
    name: 'revocation expiry',
    intervalMs: EXPIRE_INTERVAL_MS,
    run: () => meters.revocationsKept(entries.expire()),
    logger,
  });
  return {
    isRevoked: entries.isRevoked,
    isSuperseded: entries.isSuperseded,
    isVerified: entries.isVerified,
    isConnected: () => state.isLive && messaging.isConnected(),
    remember(key, value) {
      entries.add(key, JSON.stringify(value ?? {}), clock().getTime());
    },
    async stop() {
      forgetReconnect();
      endWatch(state);
      await Promise.all([following.stop(), expiring.stop()]);
      endWatch(state);
    },
  };
};

/** Watches the bucket and waits until all its entries have arrived; retries until that succeeds. */
const load = async (state: ViewState, signal: AbortSignal): Promise<void> => {
  const { messaging, entries } = state;
  while (!signal.aborted) {
    setLive(state, false);
    try {
      if (messaging.isConnected()) {
        state.watch = await startBucketWatch(messaging, entries);
        setLive(state, true);
        return;
      }
    } catch (error) {
      messaging.logger.warn({ bucket: REVOCATIONS_BUCKET, err: error }, 'revocations could not be loaded; retrying');
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
};

/** Returns false if the watch has ended, is behind, or follows a bucket that was deleted since. */
const isCurrent = async ({ messaging }: ViewState, watch: BucketWatch): Promise<boolean> => {
  if (watch.hasEnded() || !messaging.isConnected()) return false;
  try {
    const info = await messaging.untilDisconnect(messaging.manager.streams.info(REVOCATIONS_STREAM));
    const isBehind = watch.lastSeq() < watch.expectedSeq && info.state.messages > 0;
    watch.expectedSeq = info.state.last_seq;
    return String(info.created) === watch.created && !isBehind && !watch.hasEnded();
  } catch {
    return false;
  }
};

const endWatch = (state: ViewState): void => {
  state.watch?.stop();
  state.watch = undefined;
};

const setLive = (state: ViewState, isLive: boolean): void => {
  state.isLive = isLive;
  state.messaging.meters.revocationsConnected(isLive);
};
