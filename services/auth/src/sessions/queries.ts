import { hash, randomBytes } from 'node:crypto';
import { type FactorType, idTimeAt } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { AccountRecord } from '../accounts/index.ts';
import { createAssertionOptions, type FactorsDeps, listFactorsOfUser, type RequestOptions } from '../factors/index.ts';
import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { MembershipKey } from '../memberships.ts';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';
import { type SessionRecord, signInOf } from './session.ts';

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

/** Stores the second step of a sign-in. */
const insertChallenge = async (executor: Executor, challenge: ChallengeRecord): Promise<void> => {
  await executor('sign_in_challenges').insert(snakeKeys(challenge));
};

const findChallenge = async (executor: Executor, digest: Buffer): Promise<ChallengeRecord | undefined> => {
  const row = await executor<SnakeKeys<ChallengeRecord>>('sign_in_challenges').where({ digest }).first();
  return row === undefined ? undefined : camelKeys(row);
};

/** Uses up a challenge. Returns false if it was used before. */
export const deleteChallenge = async (trx: Transaction, digest: Buffer): Promise<boolean> =>
  (await trx('sign_in_challenges').where({ digest }).delete()) > 0;

/** Deletes at most `limit` challenges that expired before the given time. Returns the number. */
export const deleteChallengesExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> => {
  const old = executor('sign_in_challenges').where('expires_at', '<', before).limit(limit);
  return await executor('sign_in_challenges').whereIn('digest', old.select('digest')).delete();
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

/** Deletes every sign-in of a user that waits for its second step. */
export const deleteChallengesOfUser = async (trx: Transaction, userId: string): Promise<void> => {
  await trx('sign_in_challenges').where({ user_id: userId }).delete();
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

/** Time for the second step of a sign-in. */
const CHALLENGE_MS = 10 * MINUTE_MS;
const BYTES = 32;

/** A sign-in between its two steps. */
interface ChallengeRecord {
  readonly digest: Buffer;
  readonly userId: string;
  /** Copied from the account when its password was checked: signing out everywhere voids the challenge. */
  readonly sessionsRevokedThrough: string | null;
  readonly expiresAt: Date;
}

/** Second step of a sign-in, as presented to the person. */
export interface SecondStep {
  readonly challenge: string;
  readonly factors: readonly FactorType[];
  readonly passkeyOptions: RequestOptions | undefined;
}

/** Creates the second step of a sign-in with a correct password. */
export const openChallenge = async (deps: FactorsDeps, account: AccountRecord): Promise<SecondStep> => {
  const challenge = randomBytes(BYTES).toString('base64url');
  await insertChallenge(deps.database, {
    digest: digestOf(challenge),
    userId: account.id,
    sessionsRevokedThrough: account.sessionsRevokedThrough,
    expiresAt: later(deps.clock(), CHALLENGE_MS),
  });
  return await describeStep(deps, challenge, account.id);
};

/** Returns the second step of an open challenge again, with new options. Throws `challenge_invalid`. */
export const reopenChallenge = async (deps: FactorsDeps, challenge: string): Promise<SecondStep> => {
  const { userId } = await requireChallenge(deps, challenge);
  return await describeStep(deps, challenge, userId);
};

const describeStep = async (deps: FactorsDeps, challenge: string, userId: string): Promise<SecondStep> => {
  const factors = await listFactorsOfUser(deps.database, userId);
  return {
    challenge,
    factors: [...new Set(factors.map(({ type }) => type))],
    passkeyOptions: await createAssertionOptions(deps, { purpose: 'second_factor', userId }),
  };
};

/** Returns the open challenge with this text. Throws `challenge_invalid`. */
export const requireChallenge = async (deps: FactorsDeps, challenge: string): Promise<ChallengeRecord> => {
  const found = await findChallenge(deps.database, digestOf(challenge));
  if (found === undefined || found.expiresAt <= deps.clock()) throw new AppError('challenge_invalid');
  return found;
};

const digestOf = (challenge: string): Buffer => hash('sha256', challenge, 'buffer');
