import { REVOCATION_TTL_SECONDS } from '@svc/contracts';
import type { Knex } from 'knex';

/** Maximum difference between the clocks of two services. */
const CLOCK_SKEW_MS = 60_000;

/** The creation of a key: its account, creator, session and membership. */
export interface KeyCreation {
  readonly userId: string;
  readonly createdBy: string;
  readonly sessionId: string;
  /** Null for a person who acts for no organization, and for a management key. */
  readonly membershipId: string | null;
}

/**
 * Returns `ended` if the session or the membership that creates a key has lost access. Until the transaction ends, the end of
 * access to the account and to the creator's own waits, so that it finds the key.
 */
export const lockAccess = async (
  trx: Knex.Transaction,
  { userId, createdBy, sessionId, membershipId }: KeyCreation,
): Promise<'granted' | 'ended'> => {
  // The same order everywhere prevents deadlocks.
  for (const id of [...new Set([userId, createdBy])].sort()) await lockKeysOf(trx, id);
  const cutoff = await trx('key_cutoffs')
    .where({ svc_user_id: createdBy })
    .where('sessions_revoked_through', '>=', sessionId)
    .first();
  if (cutoff !== undefined) return 'ended';
  if (membershipId === null) return 'granted';
  const membership = await trx('ended_memberships').where({ membership_id: membershipId }).first();
  return membership === undefined ? 'granted' : 'ended';
};

/** Serializes the creation of keys for an account, or by a person, with the end of its access until the transaction ends. */
const lockKeysOf = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await trx.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`api_keys ${userId}`]);
};

/** The end of access to an account. */
interface EndedAccess {
  readonly userId: string;
  /** Newest ended session. */
  readonly sessionsRevokedThrough: string;
  /** Time since when an intruder may have had access; undefined if all access to the account ends. */
  readonly addedSince: Date | undefined;
  /** Time at which auth ended it. */
  readonly endedAt: Date;
  readonly at: Date;
}

/**
 * Prevents sessions up to `sessionsRevokedThrough` of the account from creating keys, and deletes keys: without
 * `addedSince` those of the account which sessions up to this one created; with it, those which the person created or rotated
 * since, in any organization. Returns the ids of the deleted keys.
 */
export const endKeysOfAccount = async (trx: Knex.Transaction, input: EndedAccess): Promise<string[]> => {
  const { userId, sessionsRevokedThrough, addedSince, endedAt, at } = input;
  await lockKeysOf(trx, userId);
  await trx.raw(
    `INSERT INTO key_cutoffs AS k (svc_user_id, sessions_revoked_through) VALUES (:userId, :sessionsRevokedThrough)
     ON CONFLICT (svc_user_id) DO UPDATE
     SET sessions_revoked_through = greatest(k.sessions_revoked_through, excluded.sessions_revoked_through)`,
    { userId, sessionsRevokedThrough },
  );
  // A rotation is not bound to a session, so one that came after the end is the owner's.
  const rotatedUntil = new Date(endedAt.getTime() + CLOCK_SKEW_MS);
  const { rows }: { rows: { id: string }[] } = await trx.raw(
    `UPDATE api_keys SET deleted_at = :at
     WHERE deleted_at IS NULL AND (${addedSince === undefined ? ALL_OF_ACCOUNT : ADDED_BY_PERSON}) RETURNING id`,
    { userId, sessionsRevokedThrough, ...(addedSince === undefined ? {} : { addedSince, rotatedUntil }), at },
  );
  return rows.map(({ id }) => id);
};

const IS_OF_ENDED_SESSION = '(session_id IS NULL OR session_id <= :sessionsRevokedThrough)';
const ALL_OF_ACCOUNT = `svc_user_id = :userId AND ${IS_OF_ENDED_SESSION}`;
const ADDED_BY_PERSON = `
  created_by = :userId AND created_at >= :addedSince AND ${IS_OF_ENDED_SESSION}
  OR secret_created_by = :userId AND secret_created_at BETWEEN :addedSince AND :rotatedUntil
    AND (created_by <> :userId OR ${IS_OF_ENDED_SESSION})`;

/** The end of a membership. */
interface EndedMembership {
  readonly membershipId: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly endedAt: Date;
}

/** Marks the keys that a person created for an organization, and prevents the membership from creating more. */
export const updateCreatorLeft = async (
  trx: Knex.Transaction,
  { membershipId, organizationId, userId, endedAt }: EndedMembership,
): Promise<void> => {
  await lockKeysOf(trx, organizationId);
  // By then the tokens of a membership have expired.
  const expired = trx.raw("now() - ? * interval '1 second'", [REVOCATION_TTL_SECONDS]);
  await trx('ended_memberships').where('ended_at', '<', expired).delete();
  await trx('ended_memberships')
    .insert({ membership_id: membershipId, ended_at: endedAt })
    .onConflict('membership_id')
    .ignore();
  await trx('api_keys')
    .where({ svc_user_id: organizationId, created_by: userId })
    // A person who has joined again meanwhile creates keys that stay unmarked.
    .where('created_at', '<=', new Date(endedAt.getTime() + CLOCK_SKEW_MS))
    .update({ creator_left: true });
};

/** Erases every key of an erased account. Usage records keep their ids. */
export const deleteKeysOfUser = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await lockKeysOf(trx, userId);
  await trx('api_keys').where({ svc_user_id: userId }).delete();
};
