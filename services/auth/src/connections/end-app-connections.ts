import { randomUUID } from 'node:crypto';
import { authEvents, DISCONNECTED_MAX, type newId } from '@svc/contracts';
import { appendToOutbox, appRevocationKey } from '@svc/messaging';
import type { Transaction } from '../transact.ts';
import { auditRecord, insertAuditEntries, OWN_ORIGIN } from './audit.ts';
import { deleteCutOffGrants, deleteCutoff, findCutoff, raiseCutoff } from './grant-queries.ts';
import { deleteEndedConnections, endCutOffConnections } from './queries.ts';

/**
 * Cuts off every grant of an app: in this service from the commit on, in the others once the revocation has spread. The
 * caller holds the app's row, so that no consent interleaves. `endNextConnectionsOfApp` ends the connections
 * afterwards.
 */
export const cutOffApp = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  input: { clientId: string; now: Date },
): Promise<void> => {
  const revokedThrough = await raiseCutoff(trx, input.clientId, deps.newId('grt', input.now.getTime()));
  await appendToOutbox(trx, {
    revocation: { key: appRevocationKey(input.clientId), value: { revoked_through: revokedThrough } },
  });
};

/** Ends the next batch of connections that a suspension covers, with one fact. Returns false if none is left. */
export const endNextConnectionsOfApp = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  input: { clientId: string; now: Date },
): Promise<boolean> => {
  const { clientId, now } = input;
  const cutoff = await findCutoff(trx, clientId);
  if (cutoff === undefined) return false;
  const ended = await endCutOffConnections(trx, { clientId, cutoff, now, limit: DISCONNECTED_MAX });
  if (ended.length === 0) return false;
  await deleteCutOffGrants(trx, { clientId, cutoff, userIds: ended.map(({ userId }) => userId) });
  const cause = { action: 'app_suspended', origin: OWN_ORIGIN, now } as const;
  const entries = ended.map(({ userId }) => auditRecord(deps, { userId, clientId }, cause));
  await insertAuditEntries(trx, entries);
  await appendToOutbox(trx, {
    subject: authEvents.appDisconnected.subject,
    aggregate: `disconnection:${randomUUID()}`,
    version: 1,
    data: {
      client_id: clientId,
      revoked_at: now.toISOString(),
      connections: ended.map(({ userId, version }) => ({ svc_user_id: userId, version })),
    },
  });
  return ended.length === DISCONNECTED_MAX;
};

/**
 * Deletes the next batch of ended connections of a deleted app, and finally its cutoff. Returns false if nothing is
 * left.
 */
export const forgetNextConnectionsOfApp = async (trx: Transaction, clientId: string): Promise<boolean> => {
  if ((await deleteEndedConnections(trx, clientId, DISCONNECTED_MAX)) === DISCONNECTED_MAX) return true;
  await deleteCutoff(trx, clientId);
  return false;
};
