import { randomUUID } from 'node:crypto';
import { authEvents, connectionAggregate, DISCONNECTED_MAX, type newId } from '@svc/contracts';
import { appendToOutbox, appRevocationKey, type OutboxEvent, type OutboxRevocation } from '@svc/messaging';
import { AppError, type Clock } from '@svc/service-kit';
import type { Transact, Transaction } from '../transact.ts';
import { auditRecord, insertAuditEntries, type Origin, OWN_ORIGIN } from './audit.ts';
import {
  type ConnectionRecord,
  deleteEndedConnections,
  endCutOffConnections,
  endStandingConnections,
  isStanding,
  lockConnection,
  updateConnection,
} from './connection.ts';
import {
  deleteCutOffGrants,
  deleteCutoff,
  deleteGrantsOfUser,
  findCutoff,
  listGrantsOfUser,
  raiseCutoff,
} from './grant-queries.ts';
import { endGrants, laterOf } from './grants.ts';

/**
 * Disconnects a user from an app: ends every grant and appends the fact `auth.connection.revoked`. Throws `not_found`
 * if they are not connected.
 */
export const endConnection = async (
  deps: { transact: Transact; clock: Clock; newId: typeof newId },
  key: { userId: string; clientId: string },
  origin: Origin,
): Promise<void> => {
  await deps.transact(async (trx) => {
    const connection = await lockConnection(trx, key);
    if (connection === undefined || !isStanding(connection, await findCutoff(trx, key.clientId))) {
      throw new AppError('not_found', 'You are not connected to this app.');
    }
    await endLockedConnection(deps, trx, { connection, origin, now: deps.clock() });
  });
};

/** As `endConnection`, for a standing connection that the caller has locked. */
const endLockedConnection = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { connection, origin, now }: { connection: ConnectionRecord; origin: Origin; now: Date },
): Promise<void> => {
  const version = connection.version + 1;
  const lastUsedAt = laterOf(connection.lastUsedAt, await endGrants(trx, connection));
  await updateConnection(trx, { ...connection, version, lastUsedAt, endedAt: now });
  await insertAuditEntries(trx, [auditRecord(deps, connection, { action: 'disconnected', origin, now })]);
  await appendToOutbox(trx, disconnection({ ...connection, version }, now));
};

/** Returns the fact that a user has disconnected an app. */
const disconnection = (
  { userId, clientId, version }: Pick<ConnectionRecord, 'userId' | 'clientId' | 'version'>,
  now: Date,
): OutboxEvent => ({
  subject: authEvents.connectionRevoked.subject,
  aggregate: connectionAggregate(userId, clientId),
  version,
  data: {
    svc_user_id: userId,
    client_id: clientId,
    reason: 'user_disconnected',
    revoked_at: now.toISOString(),
  },
});

/**
 * Ends the grants that a user gave since a moment. A connection with earlier grants keeps those and the scope of the
 * newest of them; another one ends. The caller has locked the account, so no consent adds a grant meanwhile.
 */
export const endGrantsSince = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { userId, since, origin, now }: { userId: string; since: Date; origin: Origin; now: Date },
): Promise<void> => {
  const grants = await listGrantsOfUser(trx, userId);
  const recent = grants.filter(({ createdAt }) => createdAt >= since);
  const clientIds = [...new Set(recent.map(({ clientId }) => clientId))].sort();
  for (const clientId of clientIds) {
    const connection = await lockConnection(trx, { userId, clientId });
    if (connection === undefined) throw new Error('a grant has no connection');
    const last = grants.filter((grant) => grant.clientId === clientId && grant.createdAt < since).at(-1);
    if (last === undefined && isStanding(connection, await findCutoff(trx, clientId))) {
      await endLockedConnection(deps, trx, { connection, origin, now });
      continue;
    }
    const ids = recent.filter((grant) => grant.clientId === clientId).map(({ id }) => id);
    const lastUsedAt = laterOf(connection.lastUsedAt, await endGrants(trx, connection, ids));
    const kept = last === undefined ? {} : { scope: last.scope, lastGrantId: last.id };
    await updateConnection(trx, { ...connection, ...kept, lastUsedAt });
  }
};

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
  const facts = ended.map(({ clientId, version }) => disconnection({ userId, clientId, version }, now));
  const revocations = grantIds.map((id): OutboxRevocation => ({ revocation: { key: `grant.${id}` } }));
  for (const chunk of chunks(entries)) await insertAuditEntries(trx, chunk);
  for (const chunk of chunks([...revocations, ...facts])) await appendToOutbox(trx, ...chunk);
};

const chunks = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / INSERT_ROWS_MAX) }, (_, index) =>
    items.slice(index * INSERT_ROWS_MAX, (index + 1) * INSERT_ROWS_MAX),
  );

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
