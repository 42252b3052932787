import { REVOCATIONS_STREAM, revocationPrefixes, type ServiceName, streamOfPublisher } from '@svc/contracts';
import { type DatabaseSession, openSession } from '@svc/database';
import type { Messaging } from '../connection/connect-messaging.ts';
import { type Alarm, createAlarm } from './alarm.ts';
import { commitWithoutWaiting, deleteSentBefore, measureBacklog, tryRelayLock } from './queries.ts';
import { createLane, type RelayLane } from './relay-lane.ts';

const POLL_MS = 250;
const LOCK_RETRY_MS = 1_000;
const BACKLOG_INTERVAL_MS = 5_000;
const PRUNE_INTERVAL_MS = 60_000;
const PRUNE_BATCHES_MAX = 20;
const SENT_KEPT_SECONDS = 7 * 24 * 3600;
/** Hints to the other replicas of a service are sent no more often. */
const REMOTE_HINT_INTERVAL_MS = 5;

/** What the relay of a service works with. */
export interface RelayOptions {
  /** The relay keeps one connection of its own: the lock and all its statements live and die with it. */
  readonly databaseUrl: string;
  readonly databaseCaFile?: string | undefined;
  readonly messaging: Messaging;
  readonly service: ServiceName;
  /** How long sent rows are kept; 7 days by default. */
  readonly sentKeptSeconds?: number | undefined;
}

/** Sends the outbox of a service, if it is the one of its replicas that holds the lock. */
export interface Relay {
  /** To be called after a commit: the rows go out now instead of at the next poll. Never throws. */
  hint(): void;
  isLeading(): boolean;
  /** Has whichever replica leads compare its streams with the outbox now, instead of at the next of its regular looks. */
  reconcile(): void;
  /** Ends after the batch in flight. */
  stop(): Promise<void>;
}

interface RelayState {
  readonly lanes: readonly RelayLane[];
  readonly alarm: Alarm;
  readonly signal: AbortSignal;
  session: DatabaseSession | undefined;
  /** The session holds the lock. */
  hasLock: boolean;
  lockDueAt: number;
  backlogDueAt: number;
  pruneDueAt: number;
}

/** Starts relaying; returns at once. Failures are logged and tried again forever. */
export const startRelay = (options: RelayOptions): Relay => {
  const { messaging, service } = options;
  const stopping = new AbortController();
  const alarm = createAlarm();
  const lanes = streamsOf(service).map((stream) => createLane(messaging, stream));
  // A counter that appears with its first count has not grown, as Prometheus sees it.
  for (const stream of streamsOf(service)) messaging.meters.outboxRepublished(stream, 0);
  const { signal } = stopping;
  const dueAt = { lockDueAt: 0, backlogDueAt: 0, pruneDueAt: 0 };
  const state: RelayState = { lanes, alarm, signal, session: undefined, hasLock: false, ...dueAt };
  const hintSubject = `outbox_hint.${service}`;
  const subscription = messaging.connection.subscribe(hintSubject, { callback: alarm.ring });
  const distrustAll = () => {
    for (const lane of lanes) lane.distrust();
    alarm.ring();
  };
  const reconcileSubject = `outbox_reconcile.${service}`;
  const reconciliation = messaging.connection.subscribe(reconcileSubject, { callback: distrustAll });
  const forgetReconnect = messaging.onReconnect(distrustAll);
  const running = runRelay(options, state);
  let hintedAt = 0;
  return {
    hint() {
      alarm.ring();
      if (isLeading(state) || !messaging.isConnected()) return;
      if (performance.now() - hintedAt < REMOTE_HINT_INTERVAL_MS) return;
      hintedAt = performance.now();
      messaging.connection.publish(hintSubject);
    },
    isLeading: () => isLeading(state),
    reconcile() {
      distrustAll();
      if (messaging.isConnected()) messaging.connection.publish(reconcileSubject);
    },
    async stop() {
      stopping.abort();
      alarm.silence();
      subscription.unsubscribe();
      reconciliation.unsubscribe();
      forgetReconnect();
      await running;
    },
  };
};

const runRelay = async (options: RelayOptions, state: RelayState): Promise<void> => {
  const { messaging } = options;
  while (!state.signal.aborted) {
    let waitMs = LOCK_RETRY_MS;
    try {
      const session = await ensureLeading(options, state);
      if (session !== undefined) waitMs = (await relayOnce(options, state, session)) ? 0 : POLL_MS;
    } catch (error) {
      messaging.logger.warn({ component: 'outbox_relay', err: error }, 'the outbox cannot be read; trying again');
      // A connection whose answers do not come would keep later tries waiting as well.
      await state.session?.close();
    }
    // Also where the database cannot be reached: then nobody leads.
    messaging.meters.relayLeading(isLeading(state));
    if (waitMs > 0) await state.alarm.wait(waitMs);
  }
  await state.session?.close();
  state.session = undefined;
  messaging.meters.relayLeading(false);
};

const isLeading = ({ session, hasLock }: RelayState): boolean => hasLock && session?.isOpen() === true;

/** The session that holds the lock of this service; undefined while another replica does. */
const ensureLeading = async (options: RelayOptions, state: RelayState): Promise<DatabaseSession | undefined> => {
  if (isLeading(state)) return state.session;
  state.hasLock = false;
  // Hints wake every replica, and one that does not lead has nothing to do for them.
  if (performance.now() < state.lockDueAt) return undefined;
  state.lockDueAt = performance.now() + LOCK_RETRY_MS;
  if (state.session?.isOpen() !== true) {
    await state.session?.close();
    state.session = undefined;
    const sessionOptions = { applicationName: `${options.service}-relay`, caFile: options.databaseCaFile };
    state.session = await openSession(options.databaseUrl, sessionOptions);
  }
  const { session } = state;
  if (!(await tryRelayLock(session))) return undefined;
  await commitWithoutWaiting(session);
  state.hasLock = true;
  for (const lane of state.lanes) lane.distrust();
  return session;
};

const relayOnce = async (options: RelayOptions, state: RelayState, session: DatabaseSession): Promise<boolean> => {
  const now = performance.now();
  if (now > state.backlogDueAt) {
    state.backlogDueAt = now + BACKLOG_INTERVAL_MS;
    const { count, oldestAgeSeconds } = await measureBacklog(session);
    options.messaging.meters.outboxBacklog(count, oldestAgeSeconds);
  }
  const results = await Promise.all(state.lanes.map((lane) => lane.round(session)));
  if (now > state.pruneDueAt) {
    state.pruneDueAt = now + PRUNE_INTERVAL_MS;
    await prune(session, options.sentKeptSeconds ?? SENT_KEPT_SECONDS);
  }
  return results.includes(true);
};

const prune = async (session: DatabaseSession, keptSeconds: number): Promise<void> => {
  for (let batch = 0; batch < PRUNE_BATCHES_MAX; batch += 1) {
    if ((await deleteSentBefore(session, keptSeconds)) === 0) return;
  }
};

const streamsOf = (service: ServiceName): string[] => {
  const revocations = revocationPrefixes(service).length > 0 ? [REVOCATIONS_STREAM] : [];
  const own = streamOfPublisher(service);
  return own === undefined ? revocations : [...revocations, own];
};
