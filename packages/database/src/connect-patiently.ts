import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { DatabaseUnreachable } from './database-unreachable.ts';
import { isConnectionFailure } from './postgres-errors.ts';
import { NoWritableServer } from './writable-server.ts';

const PATIENCE_MS = 120_000;
const PAUSE_MS = 250;

export interface PatienceOptions {
  /** The pool's connection string, of which failures name hosts, user and database. */
  readonly url: string;
  /** Gets the first failure, while the next attempts run. */
  readonly onWaiting?: (failure: DatabaseUnreachable) => void;
  readonly patienceMs?: number;
}

/**
 * Opens the first connection of a pool. When a process starts on a busy machine, that takes longer than any request may
 * wait: a time-out is repeated for two minutes, and so is the search among several servers, of which none takes writes
 * during a failover. Throws DatabaseUnreachable, for every other failure at once.
 */
export const connectPatiently = async (
  database: Knex,
  { url, onWaiting, patienceMs = PATIENCE_MS }: PatienceOptions,
): Promise<void> => {
  const deadline = performance.now() + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await database.raw('SELECT 1');
      return;
    } catch (error) {
      const failure = new DatabaseUnreachable(url, error);
      if (!isPassing(error) || performance.now() > deadline) throw failure;
      if (attempt === 1) onWaiting?.(failure);
    }
    await sleep(PAUSE_MS);
  }
};

const isPassing = (error: unknown): boolean =>
  error instanceof NoWritableServer ||
  (isConnectionFailure(error) && error instanceof Error && /time(?:d ?)?out/i.test(error.message));
