import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { deleteDoneEventsBefore } from './queries.ts';

/** What pruning needs. */
export interface PruningDeps {
  readonly database: Knex;
  readonly clock: () => Date;
  readonly logger: Logger;
  readonly retentionDays: number;
}

const INTERVAL_MS = 3_600_000;
const BATCH = 1_000;
const DAY_MS = 86_400_000;

/** Forgets events that are long done: now, and every hour. Replicas may do so at the same time. */
export const startEventPruning = (deps: PruningDeps): { stop(): Promise<void> } => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      await pruneAll(deps, signal).catch((error: unknown) => {
        deps.logger.error({ component: 'pruning', err: error }, 'old events could not be removed');
      });
      await sleep(INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

const pruneAll = async (
  { database, clock, logger, retentionDays }: PruningDeps,
  signal: AbortSignal,
): Promise<void> => {
  const createdSeconds = Math.floor((clock().getTime() - retentionDays * DAY_MS) / 1_000);
  let total = 0;
  for (let count = BATCH; count === BATCH && !signal.aborted; total += count) {
    count = await deleteDoneEventsBefore(database, createdSeconds, BATCH);
  }
  if (total > 0) logger.info({ count: total }, 'old events were removed');
};
