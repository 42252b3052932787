import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { isDeadlock, isSerializationFailure } from './postgres-errors.ts';

const ATTEMPTS_MAX = 5;
const BASE_DELAY_MS = 10;
const DELAY_MS_MAX = 500;

export interface RetryOptions {
  readonly isolation?: Knex.IsolationLevels | undefined;
  readonly attemptsMax?: number | undefined;
  /** Returns a number in [0, 1), which spreads competing attempts apart. */
  readonly random?: (() => number) | undefined;
}

/**
 * Runs `work` in one transaction, and again from the start after a serialization failure or a deadlock, with growing
 * jittered delays. `work` must have no effect outside the transaction. Throws the last failure once the attempts run out.
 */
export const retryTransaction = async <T>(
  database: Knex,
  work: (trx: Knex.Transaction) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> => {
  const attemptsMax = options.attemptsMax ?? ATTEMPTS_MAX;
  const random = options.random ?? Math.random;
  const config = options.isolation === undefined ? {} : { isolationLevel: options.isolation };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.transaction(work, config);
    } catch (error) {
      if (attempt >= attemptsMax || !(isSerializationFailure(error) || isDeadlock(error))) throw error;
      await sleep(Math.min(BASE_DELAY_MS * 2 ** attempt, DELAY_MS_MAX) * (0.5 + random() / 2));
    }
  }
};
