import { authEvents, connectionAggregate, type newId } from '@svc/contracts';
import { appendToOutbox, type OutboxEvent, type OutboxRevocation } from '@svc/messaging';
import type { Transaction } from '../transact.ts';
import { auditRecord, insertAuditEntries, type Origin } from './audit.ts';
import { deleteGrantsOfUser } from './grant-queries.ts';
import { endStandingConnections } from './queries.ts';

/** Rows of one INSERT; PostgreSQL takes at most 65,535 parameters. */
const INSERT_ROWS_MAX = 1_000;

/**
 * Disconnects a user from every app: each connection appends its fact, each grant its revocation. The caller has locked
 * the account, so no consent adds a connection meanwhile.
 */
export const endConnectionsOfUser = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { userId, origin, now }: { userId: string; origin: Origin; now: Date },
): Promise<void> => {
  const ended = await endStandingConnections(trx, userId, now);
  const grantIds = await deleteGrantsOfUser(trx, userId);
  const cause = { action: 'disconnected', origin, now } as const;
  const entries = ended.map(({ clientId }) => auditRecord(deps, { userId, clientId }, cause));
  const facts = ended.map(
    ({ clientId, version }): OutboxEvent => ({
      subject: authEvents.connectionRevoked.subject,
      aggregate: connectionAggregate(userId, clientId),
      version,
      data: {
        svc_user_id: userId,
        client_id: clientId,
        reason: 'user_disconnected',
        revoked_at: now.toISOString(),
      },
    }),
  );
  const revocations = grantIds.map((id): OutboxRevocation => ({ revocation: { key: `grant.${id}` } }));
  for (const chunk of chunks(entries)) await insertAuditEntries(trx, chunk);
  for (const chunk of chunks([...revocations, ...facts])) await appendToOutbox(trx, ...chunk);
};

const chunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / INSERT_ROWS_MAX) }, (_, index) =>
    items.slice(index * INSERT_ROWS_MAX, (index + 1) * INSERT_ROWS_MAX),
  );
