import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { isConnectionFailure } from './postgres-errors.ts';

const PATIENCE_MS = 120_000;
const PAUSE_MS = 250;

/**
 * Opens the first connection of a pool. When a process starts on a busy machine, that takes longer than any request may
 * wait: a time-out is repeated for two minutes. Throws every other failure at once.
 */
export const connectPatiently = async (database: Knex, patienceMs: number = PATIENCE_MS): Promise<void> => {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      await database.raw('SELECT 1');
      return;
    } catch (error) {
      if (!isTimeout(error) || performance.now() > deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
};

const isTimeout = (error: unknown): boolean =>
  isConnectionFailure(error) &&
  error instanceof Error &&
  // Of several servers, the last one's failure is the cause.
  (/time(?:d ?)?out/i.test(error.message) || isTimeout(error.cause));
