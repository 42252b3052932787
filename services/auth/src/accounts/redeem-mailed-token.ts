import { AppError } from '@svc/service-kit';
import {
  deleteMailedToken,
  findMailedToken,
  type MailedTokenQuery,
  type MailedTokenRecord,
} from '../mailed-tokens/index.ts';
import type { Transaction } from '../transact.ts';
import { type AccountWithPassword, lockAccount } from './queries.ts';

/** A used token, with the current state of its account. */
export interface RedeemedToken extends AccountWithPassword {
  readonly token: MailedTokenRecord;
}

/**
 * Locks the account of a token, then uses the token up. All changes of an account lock in this order. Throws
 * `token_invalid`.
 */
export const redeemMailedToken = async (trx: Transaction, query: MailedTokenQuery): Promise<RedeemedToken> => {
  const found = await findMailedToken(trx, query);
  const locked = found === undefined ? undefined : await lockAccount(trx, found.userId);
  if (found === undefined || locked === undefined) throw new AppError('token_invalid');
  if (!(await deleteMailedToken(trx, query))) throw new AppError('token_invalid');
  return { ...locked, token: found };
};
