import { documentOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { resumeApp, type SuspendAppDeps, suspendApp } from '../apps/index.ts';
import type { Executor } from '../transact.ts';
import { isHostBlocked, listClientsOfHost, listDocuments, lockHosts, setHostBlocked } from './queries.ts';

const DOCUMENTS_MAX = 100;

/** Binds the operator routes of clients that no business registered. */
export const documentOperatorRoutes = (deps: SuspendAppDeps & { readonly database: Executor }): Binding[] => {
  const setBlocked = async (host: string, blockedAt: Date | null): Promise<string[]> => {
    await deps.transact(async (trx) => {
      await lockHosts(trx);
      await setHostBlocked(trx, host, blockedAt);
    });
    return await listClientsOfHost(deps.database, host);
  };
  return [
    bind(documentOperations.listClientDocuments, async () => ({
      status: 200,
      body: {
        data: (await listDocuments(deps.database, DOCUMENTS_MAX)).map((document) => ({
          client_id: document.clientId,
          host: document.host,
          name: document.name,
          active: document.active,
          suspended_at: document.suspendedAt?.toISOString() ?? null,
          fetched_at: document.fetchedAt.toISOString(),
          expires_at: document.expiresAt.toISOString(),
          connections: document.connections,
        })),
      },
    })),
    // No document of the host is stored after the first step, so the second one meets them all.
    bind(documentOperations.blockClientHost, async ({ body }) => {
      const clientIds = await setBlocked(body.host, deps.clock());
      for (const clientId of clientIds) await suspendApp(deps, clientId);
      return { status: 200, body: { suspended: clientIds.length } };
    }),
    bind(documentOperations.unblockClientHost, async ({ body }) => {
      let resumed = 0;
      for (const clientId of await setBlocked(body.host, null)) {
        // A host above it, or one below, may be blocked still.
        if (await isHostBlocked(deps.database, new URL(clientId).host)) continue;
        await resumeApp(deps, clientId);
        resumed += 1;
      }
      return { status: 200, body: { resumed } };
    }),
  ];
};
