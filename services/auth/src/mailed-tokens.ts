import { hash, randomBytes } from 'node:crypto';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { DAY_MS, later, MINUTE_MS } from './time.ts';
import type { Executor, Transaction } from './transact.ts';

/** Lifetime of the tokens of each purpose. */
const LIFETIME_MS = {
  verify_email: 3 * DAY_MS,
  reset_password: 30 * MINUTE_MS,
  confirm_email: DAY_MS,
  undo_email: 7 * DAY_MS,
  link_identity: 30 * MINUTE_MS,
  /** Longer than the maximum delay of an erasure, which voids the token. */
  cancel_deletion: 366 * DAY_MS,
} as const;

/** Action that a mailed token allows. */
export type MailedTokenPurpose = keyof typeof LIFETIME_MS;

/** A token as stored. */
export interface MailedTokenRecord {
  readonly digest: Buffer;
  readonly purpose: MailedTokenPurpose;
  readonly userId: string;
  /** Address that the token verifies, changes to or restores. */
  readonly email: string;
  /** Time of the request that led to the mail. */
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Identity at the OpenID provider that the token links; null for other purposes. */
  readonly issuer: string | null;
  readonly subject: string | null;
}

/** Subject of a new token. */
interface MailedTokenSubject extends Pick<MailedTokenRecord, 'purpose' | 'userId' | 'email'> {
  readonly identity?: { readonly issuer: string; readonly subject: string };
  /** Time of the request, if it was made before. */
  readonly requestedAt?: Date;
}

const TOKEN_BYTES = 32;

/** Returns the stored digest of a token. */
const mailedTokenDigest = (token: string): Buffer => hash('sha256', `mailed:${token}`, 'buffer');

/** Creates a token and its record. The token itself is only in the mail. */
const newMailedToken = (
  { purpose, userId, email, identity, requestedAt }: MailedTokenSubject,
  now: Date,
): { token: string; record: MailedTokenRecord } => {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const record = {
    digest: mailedTokenDigest(token),
    purpose,
    userId,
    email,
    createdAt: requestedAt ?? now,
    expiresAt: later(now, LIFETIME_MS[purpose]),
    issuer: identity?.issuer ?? null,
    subject: identity?.subject ?? null,
  };
  return { token, record };
};

export interface MailedTokenQuery {
  readonly purpose: MailedTokenPurpose;
  readonly token: string;
  readonly now: Date;
}

const insertMailedToken = async (trx: Transaction, record: MailedTokenRecord): Promise<void> => {
  await trx('mailed_tokens').insert(snakeKeys(record));
};

/** Finds a valid token of this purpose. */
export const findMailedToken = async (
  executor: Executor,
  query: MailedTokenQuery,
): Promise<MailedTokenRecord | undefined> => {
  const row = await live(executor, query).first();
  return row === undefined ? undefined : camelKeys(row);
};

/** Uses up a token. Returns false if it is no longer valid. */
export const deleteMailedToken = async (trx: Transaction, query: MailedTokenQuery): Promise<boolean> =>
  (await live(trx, query).delete()) > 0;

const live = (executor: Executor, { purpose, token, now }: MailedTokenQuery) =>
  executor<SnakeKeys<MailedTokenRecord>>('mailed_tokens')
    .where({ digest: mailedTokenDigest(token), purpose })
    .where('expires_at', '>', now);

/** Voids a user's tokens of some purposes, except those created before `since`. */
export const voidMailedTokens = async (
  trx: Transaction,
  userId: string,
  { purposes, since }: { purposes: readonly MailedTokenPurpose[]; since?: Date },
): Promise<void> => {
  const voided = trx('mailed_tokens').where({ user_id: userId }).whereIn('purpose', purposes);
  await (since === undefined ? voided : voided.where('created_at', '>=', since)).delete();
};

/** Returns the time of the oldest request to change this address of an account that can still be undone. */
export const findOldestChangeOf = async (
  trx: Transaction,
  { userId, email, now }: { userId: string; email: string; now: Date },
): Promise<Date | undefined> => {
  const row = await trx<SnakeKeys<MailedTokenRecord>>('mailed_tokens')
    .where({ user_id: userId, purpose: 'undo_email', email })
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .first('created_at');
  return row?.created_at;
};

/** Returns true if another account may still return to this address. */
export const isAddressHeld = async (
  executor: Executor,
  email: string,
  { now, exceptUserId }: { now: Date; exceptUserId: string },
): Promise<boolean> => {
  const row = await executor('mailed_tokens')
    .where({ purpose: 'undo_email', email })
    .where('expires_at', '>', now)
    .whereNot({ user_id: exceptUserId })
    .first('user_id');
  return row !== undefined;
};

/** Deletes at most `limit` tokens that expired before the given time. Returns the number. */
export const deleteMailedTokensExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> => {
  const old = executor('mailed_tokens').where('expires_at', '<', before).limit(limit);
  return await executor('mailed_tokens').whereIn('digest', old.select('digest')).delete();
};

/** Stores a new token and returns it. The caller enqueues its mail in the same transaction. */
export const issueMailedToken = async (trx: Transaction, about: MailedTokenSubject, now: Date): Promise<string> => {
  const { token, record } = newMailedToken(about, now);
  await insertMailedToken(trx, record);
  return token;
};
