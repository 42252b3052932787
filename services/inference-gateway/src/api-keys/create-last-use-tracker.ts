import { type Logger, runPeriodically } from '@svc/service-kit';
import type { Knex } from 'knex';
import { updateApiKeysLastUsedAt } from './queries.ts';

/** `last_used_at` is only displayed, so a short delay is fine. A write per request would be expensive. */
const FLUSH_INTERVAL_MS = 1_000;

/** Collects the last use of each key and writes them in batches. */
export interface LastUseTracker {
  readonly note: (keyId: string) => void;
  readonly stop: () => Promise<void>;
}

export const createLastUseTracker = (options: {
  readonly database: Knex;
  readonly clock: () => number;
  readonly logger: Logger;
}): LastUseTracker => {
  let uses = new Map<string, number>();
  const flush = async (): Promise<void> => {
    if (uses.size === 0) return;
    const taken = uses;
    uses = new Map();
    await updateApiKeysLastUsedAt(options.database, taken);
  };
  const flushing = runPeriodically({
    name: 'last uses of keys',
    intervalMs: FLUSH_INTERVAL_MS,
    run: flush,
    logger: options.logger,
  });
  return {
    note: (keyId) => uses.set(keyId, options.clock()),
    stop: async () => {
      await flushing.stop();
      await flush();
    },
  };
};
