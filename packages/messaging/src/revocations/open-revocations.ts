import { setTimeout as sleep } from 'node:timers/promises';
import { REVOCATIONS_BUCKET, REVOCATIONS_STREAM } from '@svc/contracts';
import { type Clock, runPeriodically, systemClock } from '@svc/service-kit';
import type { Messaging } from '../connection/connect-messaging.ts';
import { createSourceQuestions, type SourceQuestions } from './ask-sources.ts';
import type { RevocationSource } from './recorded-revocations.ts';
import {
  createEntries,
  keysOf,
  type RevocationEntries,
  type RevocationSubject,
  type RevocationView,
} from './revocation-entries.ts';
import { type BucketWatch, startBucketWatch } from './start-bucket-watch.ts';

const RETRY_MS = 250;
const CHECK_INTERVAL_MS = 1_000;
/** Age of the last proof that all revocations have arrived, from which the view is stale. */
const STALE_AFTER_MS = 2_000;
/** Time that entries get to arrive after the bucket was asked for its last one. */
const ARRIVAL_MS = 900;
const ARRIVAL_POLL_MS = 20;
const EXPIRE_INTERVAL_MS = 60_000;

export interface RevocationsOptions {
  /** Services that are asked about credentials while NATS does not deliver. */
  readonly sources: readonly RevocationSource[];
  readonly clock?: Clock | undefined;
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly monotonicMs?: (() => number) | undefined;
  readonly checkIntervalMs?: number | undefined;
}

interface ViewState {
  readonly messaging: Messaging;
  readonly entries: RevocationEntries;
  readonly questions: SourceQuestions;
  readonly monotonicMs: () => number;
  watch: BucketWatch | undefined;
  /** Every entry stored in the bucket before this moment has arrived. */
  completeAtMs: number;
}

/**
 * Loads all revocations, retrying without limit, and then follows new ones. Keeps them while NATS is away and loads everything
 * again afterwards, from a recreated bucket as well. While NATS is silent, the sources are asked about each credential.
 */
export const openRevocations = async (messaging: Messaging, options: RevocationsOptions): Promise<RevocationView> => {
  const { sources, clock = systemClock, checkIntervalMs = CHECK_INTERVAL_MS } = options;
  const { logger, meters } = messaging;
  const monotonicMs = options.monotonicMs ?? (() => performance.now());
  const nowMs = () => clock().getTime();
  const entries = createEntries(clock);
  const questions = createSourceQuestions({ sources, entries, nowMs, monotonicMs, logger });
  const state: ViewState = { messaging, entries, questions, monotonicMs, watch: undefined, completeAtMs: 0 };
  await load(state, new AbortController().signal);
  state.completeAtMs = monotonicMs();
  const isStale = () => monotonicMs() - state.completeAtMs > STALE_AFTER_MS;
  meters.revocationsConnected(() => !isStale());
  // Prometheus sees a counter grow only if it has been 0 before.
  meters.revocationsUnchecked(0);
  const following = runPeriodically({
    name: 'revocations',
    intervalMs: checkIntervalMs,
    run: async (signal) => {
      if (state.watch !== undefined && (await isFollowing(state, state.watch, isStale))) return;
      endWatch(state);
      await load(state, signal);
      following.wake();
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
  const refresh = async (subject: RevocationSubject): Promise<void> => {
    if (!(await questions.ask(keysOf(subject)))) meters.revocationsUnchecked(1);
  };
  return {
    isRevoked: entries.isRevoked,
    isSuperseded: entries.isSuperseded,
    isMembershipSuperseded: entries.isMembershipSuperseded,
    isVerified: entries.isVerified,
    isStale,
    refreshIfStale: (subject) => (isStale() ? refresh(subject) : undefined),
    remember(key, value) {
      entries.add(key, JSON.stringify(value ?? {}), nowMs());
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
    try {
      if (messaging.isConnected()) {
        state.watch = await startBucketWatch(messaging, entries);
        return;
      }
    } catch (error) {
      messaging.logger.warn({ bucket: REVOCATIONS_BUCKET, err: error }, 'revocations could not be loaded; retrying');
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
};

/**
 * Asks the bucket for its last entry, and takes its arrival as the proof that the watch is complete: a connection that
 * hangs brings no answer, and a broken watch no entry. After a time without proof, the sources must have published
 * what they recorded meanwhile. Returns false if the watch must be started again.
 */
const isFollowing = async (state: ViewState, watch: BucketWatch, isStale: () => boolean): Promise<boolean> => {
  const { messaging, monotonicMs } = state;
  if (watch.hasEnded() || !messaging.isConnected()) return false;
  try {
    const wasStale = isStale();
    if (wasStale && !(await state.questions.arePublished())) return true;
    const before = watch.lastSeq();
    const askedAtMs = monotonicMs();
    const info = await messaging.untilDisconnect(messaging.manager.streams.info(REVOCATIONS_STREAM));
    if (String(info.created) !== watch.created) return false;
    const lastSeq = info.state.messages > 0 ? info.state.last_seq : 0;
    if (await hasArrived(watch, lastSeq)) {
      // A view that became stale before the answer came needs another question: its sources were not asked.
      if (wasStale || !isStale()) state.completeAtMs = askedAtMs;
      return true;
    }
    // A busy watch may be behind; one that stands still is broken.
    return !watch.hasEnded() && watch.lastSeq() > before;
  } catch {
    return false;
  }
};

const hasArrived = async (watch: BucketWatch, seq: number): Promise<boolean> => {
  const deadline = performance.now() + ARRIVAL_MS;
  while (watch.lastSeq() < seq && !watch.hasEnded() && performance.now() < deadline) await sleep(ARRIVAL_POLL_MS);
  return watch.lastSeq() >= seq && !watch.hasEnded();
};

const endWatch = (state: ViewState): void => {
  state.watch?.stop();
  state.watch = undefined;
};
