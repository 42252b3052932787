import { formatDay } from '../format-amount.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { issueMailedToken } from '../mailed-tokens.ts';
import type { Transaction } from '../transact.ts';
import type { AccountRecord } from './account.ts';

/** Mails the owner of an account that will be erased a link to cancel the deletion. */
export const mailDeletion = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  account: AccountRecord & { readonly eraseAt: Date },
): Promise<void> => {
  const { id: userId, email, locale, eraseAt } = account;
  const token = await issueMailedToken(trx, { purpose: 'cancel_deletion', userId, email }, deps.clock());
  const data = { token, erasedOn: formatDay(eraseAt.toISOString(), locale) };
  await enqueueMail(deps, trx, { kind: 'deletion_requested', userId, to: email, locale, data });
};
