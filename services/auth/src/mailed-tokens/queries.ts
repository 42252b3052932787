import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import { type MailedTokenPurpose, type MailedTokenRecord, mailedTokenDigest } from './mailed-token.ts';

export interface MailedTokenQuery {
  readonly purpose: MailedTokenPurpose;
  readonly token: string;
  readonly now: Date;
}

export const insertMailedToken = async (trx: Transaction, record: MailedTokenRecord): Promise<void> => {
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
