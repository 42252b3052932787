import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { isConnectionFailure } from './postgres-errors.ts';
import { NoWritableServer } from './writable-server.ts';

const PATIENCE_MS = 120_000;
const PAUSE_MS = 250;

/**
 * Opens the first connection of a pool. When a process starts on a busy machine, that takes longer than any request may
 * wait: a time-out is repeated for two minutes, and so is the search among several servers, of which none takes writes
 * during a failover. Throws every other failure at once.
 */
export const connectPatiently = async (database: Knex, patienceMs: number = PATIENCE_MS): Promise<void> => {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      await database.raw('SELECT 1');
      return;
    } catch (error) {
      if (!isPassing(error) || performance.now() > deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
};

const isPassing = (error: unknown): boolean =>
  error instanceof NoWritableServer ||
  (isConnectionFailure(error) && error instanceof Error && /time(?:d ?)?out/i.test(error.message));
