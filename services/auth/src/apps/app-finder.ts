import { batchCalls } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import type { AppRecord } from './app.ts';
import { listAppsByIds } from './queries.ts';

/** Finds an app by its id; undefined if it was deleted. */
export type AppFinder = (clientId: string) => Promise<AppRecord | undefined>;

/** Maximum apps per query. */
const BATCH_MAX = 64;
const WAITING_MAX = 2_048;

/** Creates a finder that batches concurrent calls. Nothing is cached. */
export const createAppFinder = (database: Executor): AppFinder =>
  batchCalls({
    callsMax: BATCH_MAX,
    waitingMax: WAITING_MAX,
    run: async (clientIds: readonly string[]) => {
      const apps = await listAppsByIds(database, [...new Set(clientIds)]);
      const byId = new Map(apps.map((app) => [app.clientId, app]));
      return clientIds.map((clientId) => byId.get(clientId));
    },
  });
