import type { newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Transaction } from '../transact.ts';
import { auditRecord, insertAuditEntries, type Origin } from './audit.ts';
import type { ConnectionRecord } from './connection.ts';
import { deleteGrants, findGrant } from './grant-queries.ts';
import { lockConnection, updateConnection } from './queries.ts';

/**
 * Ends all grants of a locked connection, or those named. Codes and refresh tokens end at the commit, access tokens
 * once the revocations have spread. Returns the time of their last use.
 */
export const endGrants = async (
  trx: Transaction,
  connection: { userId: string; clientId: string },
  ids?: readonly string[],
): Promise<Date | null> => {
  if (ids?.length === 0) return null;
  const { userId, clientId } = connection;
  const ended = await deleteGrants(trx, { userId, clientId, ...(ids === undefined ? {} : { ids }) });
  await appendToOutbox(trx, ...ended.map(({ id }) => ({ revocation: { key: `grant.${id}` } })));
  return ended.reduce<Date | null>((latest, { lastUsedAt }) => laterOf(latest, lastUsedAt), null);
};

/**
 * Ends one grant. The connection stays, and keeps the last use and the reason. Does nothing if the grant has ended
 * already.
 */
export const endGrant = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  grantId: string,
  cause: { action: 'token_reused' | 'revoked_by_app' | 'grant_ended'; origin: Origin; now: Date },
): Promise<void> => {
  const grant = await findGrant(trx, grantId);
  if (grant === undefined) return;
  const connection: ConnectionRecord | undefined = await lockConnection(trx, grant);
  if (connection === undefined) throw new Error('a grant has no connection');
  const lastUsedAt = await endGrants(trx, connection, [grantId]);
  await insertAuditEntries(trx, [auditRecord(deps, connection, { ...cause, scope: grant.scope })]);
  await updateConnection(trx, { ...connection, lastUsedAt: laterOf(connection.lastUsedAt, lastUsedAt) });
};

/** Returns the later of two times; null means unknown. */
export const laterOf = (a: Date | null, b: Date | null): Date | null => {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
};
