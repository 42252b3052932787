import type { AccountRecord } from '../accounts/index.ts';
import { enqueueMail, type MailData, type MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';

/** Mails the owner that their second factors have changed, once the transaction commits. */
export const notifyOwner = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { account, ...data }: { account: AccountRecord } & MailData['factor_changed'],
): Promise<void> => {
  const { id: userId, email: to, locale } = account;
  await enqueueMail(deps, trx, { kind: 'factor_changed', userId, to, locale, data });
};
