import type { newId } from '@svc/contracts';
import { later } from '../time.ts';
import type { Transaction } from '../transact.ts';
import { GRANT_UNUSED_MS, type GrantRecord, isStanding } from './connection.ts';
import { findCutoff, insertGrant } from './grant-queries.ts';
import { type Consent, endSurplus, newGrantId } from './open-grant.ts';
import { lockConnection, updateConnection } from './queries.ts';

/**
 * Opens another grant under a standing connection that covers its scope, without a new consent. The connection keeps
 * its scope, and no fact is published. Returns undefined if there is no such connection. The caller holds a lock on the
 * app.
 */
export const addGrant = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { userId, clientId, scope, now }: Omit<Consent, 'origin' | 'budget' | 'terms' | 'deviceName'>,
): Promise<GrantRecord | undefined> => {
  const cutoff = await findCutoff(trx, clientId);
  const connection = await lockConnection(trx, { userId, clientId });
  if (connection === undefined || !isStanding(connection, cutoff)) return undefined;
  const consented = new Set(connection.scope.split(' '));
  if (scope.split(' ').some((name) => !consented.has(name))) return undefined;
  const grant: GrantRecord = { id: newGrantId(deps, now, cutoff), userId, clientId, scope, deviceName: null };
  await insertGrant(trx, grant, { createdAt: now, expiresAt: later(now, GRANT_UNUSED_MS) });
  const after = { ...connection, lastGrantId: grant.id };
  await updateConnection(trx, after);
  await endSurplus(trx, after);
  return grant;
};
