import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { updateApiKeysLastUsedAt } from './queries.ts';

/** `last_used_at` is for people: a moment of delay is nothing, a write for each request would be much. */
const FLUSH_INTERVAL_MS = 1_000;

/** Remembers when keys were used, and writes that down now and then. */
export interface LastUseTracker {
  readonly note: (keyId: string) => void;
  readonly stop: () => Promise<void>;
}

/** Starts the tracker. */
export const createLastUseTracker = (options: {
  readonly database: Knex;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly intervalMs?: number;
}): LastUseTracker => {
  let uses = new Map<string, number>();
  let flushing: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    if (uses.size === 0) return;
    const taken = uses;
    uses = new Map();
    await updateApiKeysLastUsedAt(options.database, taken).catch((error: unknown) => {
      options.logger.warn({ err: error, count: taken.size }, 'last uses of keys were not written');
    });
  };
  const timer = setInterval(() => {
    flushing = flushing.then(flush);
  }, options.intervalMs ?? FLUSH_INTERVAL_MS);
  return {
    note: (keyId) => uses.set(keyId, options.clock()),
    stop: async () => {
      clearInterval(timer);
      await flushing;
      await flush();
    },
  };
};
