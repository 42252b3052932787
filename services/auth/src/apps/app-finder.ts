import { groupCalls } from '../group-calls.ts';
import type { Executor } from '../transact.ts';
import type { AppRecord } from './app.ts';
import { listAppsByIds } from './queries.ts';

/** Finds the app of an id, unless it was deleted. */
export type AppFinder = (clientId: string) => Promise<AppRecord | undefined>;

/** Finds apps as `findAppById` does; those that are asked for at one time share a round trip, and nothing is kept. */
export const createAppFinder = (database: Executor): AppFinder =>
  groupCalls({
    run: async (clientIds: readonly string[]) => {
      const apps = await listAppsByIds(database, [...new Set(clientIds)]);
      const byId = new Map(apps.map((app) => [app.clientId, app]));
      return clientIds.map((clientId) => byId.get(clientId));
    },
  });
