import type { newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Transaction } from '../transact.ts';
import { auditRecord, type Origin } from './audit.ts';
import { insertAuditEntries } from './audit-queries.ts';
import type { ConnectionRecord } from './connection.ts';
import { deleteGrants, findGrant } from './grant-queries.ts';
import { lockConnection, updateConnection } from './queries.ts';

/**
 * Ends grants of a locked connection, all or those named: their codes and refresh tokens are gone at the commit, their
 * access tokens once the revocations have spread. Answers when any of them was used last.
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

/** Ends one grant; the connection stays, and remembers its last use and why the grant ended. Nothing happens where the grant is gone already. */
export const endGrant = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  grantId: string,
  cause: { action: 'token_reused' | 'revoked_by_app'; origin: Origin; now: Date },
): Promise<void> => {
  const grant = await findGrant(trx, grantId);
  if (grant === undefined) return;
  const connection: ConnectionRecord | undefined = await lockConnection(trx, grant);
  if (connection === undefined) throw new Error('a grant has no connection');
  const lastUsedAt = await endGrants(trx, connection, [grantId]);
  await insertAuditEntries(trx, [auditRecord(deps, connection, { ...cause, scope: grant.scope })]);
  await updateConnection(trx, { ...connection, lastUsedAt: laterOf(connection.lastUsedAt, lastUsedAt) });
};

/** The later of two instants, either of which may be unknown. */
export const laterOf = (a: Date | null, b: Date | null): Date | null => {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
};
