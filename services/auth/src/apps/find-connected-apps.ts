import type { ConnectedApp } from '../connections/index.ts';
import type { Executor } from '../transact.ts';
import { iconUrl } from './app.ts';
import { listAppsByIds } from './queries.ts';

/** Finds the fields of these apps that a list of connections shows, by id. */
export const findConnectedApps = async (
  deps: { database: Executor; publicBaseUrl: string },
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, ConnectedApp>> => {
  const apps = await listAppsByIds(deps.database, clientIds);
  return new Map(
    apps.map((app) => [
      app.clientId,
      { name: app.name, iconUrl: iconUrl(deps.publicBaseUrl, app.clientId), homepageUrl: app.homepageUrl },
    ]),
  );
};
