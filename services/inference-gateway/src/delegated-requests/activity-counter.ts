import type { ServerResponse } from 'node:http';
import { newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { type Logger, runPeriodically, whenClosed } from '@svc/service-kit';
import type { Knex } from 'knex';

const FLUSH_INTERVAL_MS = 2_000;
/** Limit of counts in one fact. */
const COUNTS_MAX = 500;

export interface ActivityCounter {
  /** Counts a request of an app when its response ends. */
  readonly follow: (clientId: string, res: ServerResponse) => void;
  readonly stop: () => Promise<void>;
}

interface Count {
  readonly client_id: string;
  readonly day: string;
  requests: number;
  errors: number;
}

/**
 * Counts delegated requests by app and UTC day for the analytics of app owners, and publishes the counts every two
 * seconds. A crash loses unpublished counts. That is acceptable: no money depends on them.
 */
export const createActivityCounter = (options: {
  readonly database: Knex;
  readonly relay: { readonly hint: () => void };
  readonly clock: () => number;
  readonly logger: Logger;
}): ActivityCounter => {
  const counts = new Map<string, Count>();
  const note = (clientId: string, isError: boolean): void => {
    const day = new Date(options.clock()).toISOString().slice(0, 10);
    const key = `${clientId} ${day}`;
    const count = counts.get(key) ?? { client_id: clientId, day, requests: 0, errors: 0 };
    count.requests += 1;
    if (isError) count.errors += 1;
    counts.set(key, count);
  };
  const flush = async (): Promise<void> => {
    while (counts.size > 0) {
      const taken = [...counts].slice(0, COUNTS_MAX);
      for (const [key] of taken) counts.delete(key);
      try {
        await publish(
          options.database,
          taken.map(([, count]) => count),
        );
      } catch (error) {
        for (const [key, count] of taken) restore(counts, key, count);
        throw error;
      }
      options.relay.hint();
    }
  };
  const flushing = runPeriodically({
    name: 'activity of apps',
    intervalMs: FLUSH_INTERVAL_MS,
    run: flush,
    logger: options.logger,
  });
  return {
    follow: (clientId, res) => {
      whenClosed(res, () => note(clientId, !res.writableFinished || res.statusCode < 200 || res.statusCode > 299));
    },
    stop: async () => {
      await flushing.stop();
      await flush();
    },
  };
};

const publish = async (database: Knex, counts: Count[]): Promise<void> => {
  await database.transaction((trx) =>
    appendToOutbox(trx, {
      subject: 'inference.app.activity.v1',
      // Counts are added up, so batches need no order: each is a separate aggregate.
      aggregate: `activity:${newId('evt')}`,
      version: 1,
      data: { counts },
    }),
  );
};

const restore = (counts: Map<string, Count>, key: string, taken: Count): void => {
  const since = counts.get(key);
  if (since === undefined) counts.set(key, taken);
  else {
    since.requests += taken.requests;
    since.errors += taken.errors;
  }
};
