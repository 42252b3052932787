import { type DatabaseOptions, type DatabaseSession, openSession } from '@svc/database';
import { runPeriodically } from '@svc/service-kit';
import type { MessagingLogger } from '../connection/logger.ts';
import { commitWithoutWaiting, tryRelayLock } from './queries.ts';

/** Election of one relay per service: the session that holds the advisory lock leads, for as long as it lives. */
export interface RelayLeadership {
  /** The session that holds the lock, while this replica leads. */
  readonly session: () => DatabaseSession | undefined;
  /** Closes the session and runs for election again. */
  readonly resign: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export interface RelayLeadershipOptions {
  readonly databaseUrl: string;
  readonly databaseCaFile: string | undefined;
  readonly openStream: DatabaseOptions['openStream'];
  readonly applicationName: string;
  readonly logger: MessagingLogger;
  readonly onChange: (isLeading: boolean) => void;
}

const ELECTION_INTERVAL_MS = 1_000;

/** Runs for election, and again whenever the session is lost. */
export const runForLeadership = (options: RelayLeadershipOptions): RelayLeadership => {
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
