import type { Transaction } from '../transact.ts';
import { type MailedTokenSubject, newMailedToken } from './mailed-token.ts';
import { insertMailedToken } from './queries.ts';

/** Stores a new token and returns it. The caller enqueues its mail in the same transaction. */
export const issueMailedToken = async (trx: Transaction, about: MailedTokenSubject, now: Date): Promise<string> => {
  const { token, record } = newMailedToken(about, now);
  await insertMailedToken(trx, record);
  return token;
};
