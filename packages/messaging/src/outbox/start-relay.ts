import { type PublisherName, REVOCATIONS_STREAM, revocationPrefixes, streams } from '@svc/contracts';
import { type DatabaseOptions, type DatabaseSession, openSession } from '@svc/database';
import { runPeriodically } from '@svc/service-kit';
import type { Messaging, MessagingLogger } from '../connection/connect-messaging.ts';
import { askBroker, findStream } from '../connection/connect-messaging.ts';
import { shareHints } from '../share-hints.ts';
import { commitWithoutWaiting, countRecentEpochs, deleteSentBefore, measureBacklog, tryRelayLock } from './queries.ts';
import { createStreamRelay, type StreamRelay } from './stream-relay.ts';

/** Election of one relay per service: the session that holds the advisory lock leads, for as long as it lives. */
interface RelayLeadership {
  /** The session that holds the lock, while this replica leads. */
  readonly session: () => DatabaseSession | undefined;
  /** Closes the session and runs for election again. */
  readonly resign: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface RelayLeadershipOptions {
  readonly databaseUrl: string;
  readonly databaseCaFile: string | undefined;
  readonly openStream: DatabaseOptions['openStream'];
  readonly applicationName: string;
  readonly logger: MessagingLogger;
  readonly onChange: (isLeading: boolean) => void;
}

const ELECTION_INTERVAL_MS = 1_000;

/** Runs for election, and again whenever the session is lost. */
const runForLeadership = (options: RelayLeadershipOptions): RelayLeadership => {
  const { databaseUrl, databaseCaFile, openStream, applicationName, onChange } = options;
  let candidate: DatabaseSession | undefined;
  let hasLock = false;
  const leader = () => (hasLock && candidate?.isOpen() === true ? candidate : undefined);
  const close = async (): Promise<void> => {
    hasLock = false;
    const session = candidate;
    candidate = undefined;
    await session?.close();
  };
  const elect = async (): Promise<void> => {
    if (leader() !== undefined) return;
    if (candidate?.isOpen() !== true) {
      await close();
      onChange(false);
      candidate = await openSession(databaseUrl, { applicationName, caFile: databaseCaFile, openStream });
    }
    if (!(await tryRelayLock(candidate))) return;
    await commitWithoutWaiting(candidate);
    hasLock = true;
    onChange(true);
  };
  const elections = runPeriodically({
    name: 'outbox relay election',
    intervalMs: ELECTION_INTERVAL_MS,
    run: async () => {
      try {
        await elect();
      } catch (error) {
        // A connection that does not answer would delay every later try as well.
        await close();
        throw error;
      }
    },
    logger: options.logger,
  });
  return {
    session: leader,
    async resign() {
      await close();
      elections.wake();
    },
    async stop() {
      await elections.stop();
      await close();
      onChange(false);
    },
  };
};

export interface RelayOptions {
  /** The relay opens one connection outside the pool for the lock and all its statements. */
  readonly databaseUrl: string;
  readonly databaseCaFile?: string | undefined;
  /** As for `createDatabase`. */
  readonly openStream?: DatabaseOptions['openStream'];
  readonly messaging: Messaging;
  readonly service: PublisherName;
  /** Retention of published rows; 7 days by default. */
  readonly sentKeptSeconds?: number | undefined;
}

/** Publishes the outbox of a service, in the one replica that holds the lock. */
export interface Relay {
  /** Publishes committed rows now instead of at the next poll, whichever replica leads. Never throws. */
  readonly hint: () => void;
  readonly isLeading: () => boolean;
  /** Makes the leading replica compare its streams with the outbox now. */
  readonly reconcile: () => void;
  readonly stop: () => Promise<void>;
}

const POLL_MS = 250;
const BACKLOG_INTERVAL_MS = 5_000;
const PRUNE_INTERVAL_MS = 60_000;
const SENT_KEPT_SECONDS = 7 * 24 * 3600;

/** Starts relaying and returns at once. Failures are logged and retried. */
export const startRelay = (options: RelayOptions): Relay => {
  const { messaging, service, sentKeptSeconds = SENT_KEPT_SECONDS } = options;
  const { logger, meters } = messaging;
  const relays = streamsOf(service).map((stream) => createStreamRelay(messaging, stream));
  // Prometheus sees a counter grow only if it has been 0 before.
  for (const stream of streamsOf(service)) meters.outboxRepublished(stream, 0);
  const verifyStreams = (): void => {
    for (const relay of relays) relay.invalidate();
    publishing.wake();
  };
  const leadership = runForLeadership({
    databaseUrl: options.databaseUrl,
    databaseCaFile: options.databaseCaFile,
    openStream: options.openStream,
    applicationName: `${service}-relay`,
    logger,
    onChange: (isLeading) => {
      meters.relayLeading(isLeading);
      if (!isLeading) {
        // Only the leader measures, and an alert reads the greatest value of all replicas.
        meters.epochsRecent(0);
        return;
      }
      verifyStreams();
      measuring.wake();
      pruning.wake();
    },
  });
  /** Periodic work of the leading replica, on the session that holds the lock. */
  const lead = (
    name: string,
    intervalMs: number,
    work: (session: DatabaseSession, signal: AbortSignal) => Promise<void>,
  ) =>
    runPeriodically({
      name,
      intervalMs,
      run: async (signal) => {
        const session = leadership.session();
        if (session !== undefined) await work(session, signal);
      },
      logger,
    });
  const publishing = lead('outbox relay', POLL_MS, async (session, signal) => {
    try {
      while (!signal.aborted && (await publishBatches(relays, session)));
    } catch (error) {
      await leadership.resign();
      throw error;
    }
  });
  const measuring = lead('outbox backlog', BACKLOG_INTERVAL_MS, async (session) => {
    const { count, oldestAgeSeconds } = await measureBacklog(session);
    meters.outboxBacklog(count, oldestAgeSeconds);
    meters.epochsRecent(await countRecentEpochs(session));
    await Promise.all(streamsOf(service).map((stream) => measureStream(messaging, stream)));
  });
  const pruning = lead('outbox pruning', PRUNE_INTERVAL_MS, (session, signal) =>
    pruneSent(session, sentKeptSeconds, signal),
  );
  const hints = shareHints(messaging, { subject: `outbox_hint.${service}`, wake: publishing.wake });
  const reconciliations = shareHints(messaging, { subject: `outbox_reconcile.${service}`, wake: verifyStreams });
  const forgetReconnect = messaging.onReconnect(verifyStreams);
  const isLeading = () => leadership.session() !== undefined;
  return {
    hint() {
      if (isLeading()) publishing.wake();
      else hints.hint();
    },
    isLeading,
    reconcile: reconciliations.hint,
    async stop() {
      hints.stop();
      reconciliations.stop();
      forgetReconnect();
      await Promise.all([publishing.stop(), measuring.stop(), pruning.stop()]);
      await leadership.stop();
    },
  };
};

const publishBatches = async (relays: readonly StreamRelay[], session: DatabaseSession): Promise<boolean> => {
  const results = await Promise.all(relays.map((relay) => relay.publishBatch(session)));
  return results.includes(true);
};

/** A broker that does not answer leaves the gauges as they were. */
const measureStream = async (messaging: Messaging, stream: string): Promise<void> => {
  const found = await askBroker(messaging, () => findStream(messaging.manager, stream));
  if (found === null || found === undefined) return;
  messaging.meters.streamFill(stream, found.state.bytes, found.config.max_bytes);
};

const pruneSent = async (session: DatabaseSession, keptSeconds: number, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted && (await deleteSentBefore(session, keptSeconds)) > 0);
};

const streamsOf = (service: PublisherName): string[] => {
  const revocations = revocationPrefixes(service).length > 0 ? [REVOCATIONS_STREAM] : [];
  return [...revocations, streams[service].name];
};
