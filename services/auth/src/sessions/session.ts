import { idTimeAt, type newId } from '@svc/contracts';
import { camelKeys, type SnakeKeys } from '@svc/database';
import type { AccountRecord } from '../accounts/index.ts';
import { type ActingMembership, findActingMembership, type MembershipKey } from '../memberships.ts';
import { HOUR_MS, later } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';

/** Lifetime of a console session, in seconds. */
export const SESSION_SECONDS = 12 * 3600;
/** Lifetime of a console session, in milliseconds. */
export const SESSION_MS = 12 * HOUR_MS;

/** Time of authentication of a session whose sign-in may be of any age: a sensitive act wants another proof first. */
export const NEVER = new Date(0);

/** A signed-in person, as stored. */
export interface SessionRecord {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Date;
  /** Last time that the person authenticated, here or by a fresh sign-in at the OpenID provider; NEVER if unknown. */
  readonly authenticatedAt: Date;
  readonly expiresAt: Date;
  /** Last use seen by this service, to the minute. */
  readonly lastUsedAt: Date;
  readonly userAgent: string | null;
  /** Network in which the session started, /24 or /48. */
  readonly network: string | null;
  /** Organization that the person acts for. Null for an account that acts for itself, which a business account does too. */
  readonly organizationId: string | null;
  /** Session of the sign-in from which this one was switched; null for that itself. */
  readonly signInId: string | null;
}

/** Returns the id of the session of the sign-in. A person sees and ends it together with those switched from it. */
export const signInOf = ({ id, signInId }: Pick<SessionRecord, 'id' | 'signInId'>): string => signInId ?? id;

/** Returns the time at which a session ends if it is not used again. */
export const endOfSession = (session: SessionRecord, idleMs: number): Date =>
  earlierOf(session.expiresAt, later(session.lastUsedAt, idleMs));

/**
 * Returns the expiry of a session's token. Other services do not see that a session is idle, so a token lives for at
 * most half the idle time: a session in use is renewed here in time.
 */
export const tokenExpiryOf = (session: SessionRecord, { now, idleMs }: { now: Date; idleMs: number }): Date =>
  idleMs >= SESSION_MS ? session.expiresAt : earlierOf(session.expiresAt, later(now, idleMs / 2));

const earlierOf = (one: Date, other: Date): Date => (one < other ? one : other);

/**
 * Returns an id that sorts after every session ended by signing out everywhere, even if the clocks of replicas differ.
 */
export const newSessionId = (deps: { newId: typeof newId }, now: Date, revokedThrough: string | null): string => {
  let aheadMs = 0;
  let id = deps.newId('ses', now.getTime());
  while (revokedThrough !== null && id <= revokedThrough) {
    aheadMs = aheadMs * 2 + 1;
    id = deps.newId('ses', now.getTime() + aheadMs);
  }
  return id;
};

/**
 * Finds the organization that the person of a session acts for, with the present role; null for a personal account that
 * acts for itself. Returns undefined if the person is no longer a member.
 */
export const findActing = async (
  executor: Executor,
  { organizationId }: Pick<SessionRecord, 'organizationId'>,
  { id: userId, accountType }: Pick<AccountRecord, 'id' | 'accountType'>,
): Promise<ActingMembership | null | undefined> => {
  const acting = organizationId ?? (accountType === 'business' ? userId : null);
  return acting === null ? null : await findActingMembership(executor, { organizationId: acting, userId });
};

/**
 * Stores a new session. Returns false if the account was signed out everywhere since it was read. Waits for a
 * concurrent change of password.
 */
export const insertSession = async (
  executor: Executor,
  session: SessionRecord,
  revokedThrough: string | null,
): Promise<boolean> => {
  const result: { rowCount: number } = await executor.raw(
    `INSERT INTO console_sessions
       (id, user_id, created_at, authenticated_at, expires_at, last_used_at, user_agent, network, organization_id,
        sign_in_id)
     SELECT :id, a.id, :createdAt, :authenticatedAt, :expiresAt, :lastUsedAt, :userAgent, :network, :organizationId, :signInId
     FROM accounts a
     WHERE a.id = :userId AND a.sessions_revoked_through IS NOT DISTINCT FROM :revokedThrough
     FOR SHARE`,
    { ...session, revokedThrough },
  );
  return result.rowCount > 0;
};

/** Finds a session by its id, unless it was ended. */
export const findSessionById = async (executor: Executor, id: string): Promise<SessionRecord | undefined> => {
  const row = await executor<SnakeKeys<SessionRecord>>('console_sessions').where({ id }).first();
  return row === undefined ? undefined : camelKeys(row);
};

/** Records that the person of a session has authenticated again. Returns undefined if the session has ended. */
export const updateAuthenticatedAt = async (
  executor: Executor,
  id: string,
  authenticatedAt: Date,
): Promise<SessionRecord | undefined> => {
  const [row] = await executor('console_sessions')
    .where({ id })
    .update({ authenticated_at: authenticatedAt })
    .returning<SnakeKeys<SessionRecord>[]>('*');
  return row === undefined ? undefined : camelKeys(row);
};

/**
 * Holds the account of a session until the transaction ends, so that no sign-out everywhere interleaves. Returns false
 * if one already covers the session.
 */
export const holdSession = async (
  trx: Transaction,
  session: { userId: string; sessionId: string },
): Promise<boolean> => {
  const result: { rowCount: number } = await trx.raw(
    `SELECT FROM accounts WHERE id = :userId
     AND (sessions_revoked_through IS NULL OR sessions_revoked_through < :sessionId) FOR SHARE`,
    session,
  );
  return result.rowCount > 0;
};

/**
 * Finds a session and holds it, with that of its sign-in, until the transaction ends, so that neither is ended meanwhile.
 * Returns undefined if one of them was.
 */
export const holdSessionRow = async (trx: Transaction, id: string): Promise<SessionRecord | undefined> => {
  const find = (wanted: string) =>
    trx<SnakeKeys<SessionRecord>>('console_sessions').where({ id: wanted }).forShare().first();
  const row = await find(id);
  const isWhole = row !== undefined && (row.sign_in_id === null || (await find(row.sign_in_id)) !== undefined);
  return isWhole ? camelKeys(row) : undefined;
};

/** Locks sessions before they are deleted, so that those which are being switched from them are deleted with them. */
export const lockSessions = async (trx: Transaction, of: { id: string } | { user_id: string }): Promise<void> => {
  await trx('console_sessions').where(of).orderBy('id').forUpdate().select('id');
};

/** Lists the unexpired sessions of a user, one for each sign-in, last used first. */
export const listSessionsOfUser = async (
  executor: Executor,
  userId: string,
  { now, limit }: { now: Date; limit: number },
): Promise<SessionRecord[]> => {
  const rows = await executor<SnakeKeys<SessionRecord>>('console_sessions as s')
    .where({ user_id: userId })
    .where('expires_at', '>', now)
    .whereRaw('(s.sign_in_id IS NULL OR NOT EXISTS (SELECT FROM console_sessions i WHERE i.id = s.sign_in_id))')
    .orderByRaw('coalesce(last_used_at, created_at) DESC, id DESC')
    .limit(limit);
  return rows.map((row) => camelKeys(row));
};

/** Records the use of a session, which is one of its sign-in too. */
export const markSessionUsed = async (
  executor: Executor,
  session: Pick<SessionRecord, 'id' | 'signInId'>,
  now: Date,
): Promise<void> => {
  // One after the other: no statement holds two rows, so none waits for a sign-out that waits for it.
  for (const id of new Set([session.id, signInOf(session)])) {
    await executor('console_sessions')
      .where({ id })
      .where((row) => row.whereNull('last_used_at').orWhere('last_used_at', '<', now))
      .update({ last_used_at: now });
  }
};

/** Deletes a session with those switched from it, and returns their ids. */
export const deleteSession = async (trx: Transaction, id: string): Promise<string[]> => {
  const sessions = trx('console_sessions').where({ id }).orWhere({ sign_in_id: id });
  const rows = await sessions.delete().returning<{ id: string }[]>('id');
  return rows.map((row) => row.id);
};

/** Finds the newest session of a user, or of a person who acts for it. */
export const findNewestSessionId = async (trx: Transaction, userId: string): Promise<string | undefined> => {
  const row = await trx<{ id: string; user_id: string; organization_id: string | null }>('console_sessions')
    .where({ user_id: userId })
    .orWhere({ organization_id: userId })
    .orderBy('id', 'desc')
    .first('id');
  return row?.id;
};

/** Deletes every session of a user, and those of people who act for it. */
export const deleteSessionsOfUser = async (trx: Transaction, userId: string): Promise<void> => {
  await trx('console_sessions').where({ user_id: userId }).orWhere({ organization_id: userId }).delete();
};

/** Deletes the sessions in which a person acts for an organization, or those begun before a time. Returns their ids. */
export const deleteActingSessions = async (
  trx: Transaction,
  { organizationId, userId }: MembershipKey,
  before?: Date,
): Promise<string[]> => {
  // A business account that acts for itself names no organization.
  const named = organizationId === userId ? null : organizationId;
  const sessions = trx('console_sessions').where({ user_id: userId, organization_id: named });
  if (before !== undefined) sessions.where('created_at', '<', before);
  const rows = await sessions.delete().returning<{ id: string }[]>('id');
  return rows.map(({ id }) => id);
};

/** Deletes the sessions of a user except those of one sign-in, and returns their ids. */
export const deleteSessionsExcept = async (trx: Transaction, userId: string, keptId: string): Promise<string[]> => {
  const others = trx('console_sessions')
    .where({ user_id: userId })
    .whereRaw(
      `coalesce(sign_in_id, id) IS DISTINCT FROM (SELECT coalesce(k.sign_in_id, k.id) FROM console_sessions k WHERE k.id = ?)`,
      [keptId],
    );
  const rows = await others.delete().returning<{ id: string }[]>('id');
  return rows.map(({ id }) => id);
};

/** Deletes at most `limit` sessions that expired before the given time. Returns the number. */
export const deleteSessionsExpiredBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('console_sessions')
    .whereIn('id', executor('console_sessions').where('expires_at', '<', before).limit(limit).select('id'))
    .delete();

/** Returns the id of the first session that began after a moment. Ids sort by time. */
export const findSessionIdAfter = async (executor: Executor, after: Date): Promise<string | undefined> => {
  const row: { id: string } | undefined = await executor('console_sessions')
    .where('id', '>', `ses_${idTimeAt(after.getTime())}`)
    .orderBy('id')
    .first('id');
  return row?.id;
};
