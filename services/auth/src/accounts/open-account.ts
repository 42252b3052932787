import { authEvents } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Transaction } from '../transact.ts';
import type { AccountRecord } from './account.ts';
import { insertAccount } from './queries.ts';

/** The constraint that a second account of one address violates. */
export const EMAIL_KEY = 'accounts_email_key';

/** Stores a new account, with or without a password, and leaves the fact `auth.account.created`. Violates EMAIL_KEY. */
export const openAccount = async (
  trx: Transaction,
  account: AccountRecord,
  passwordHash: string | null,
): Promise<void> => {
  await insertAccount(trx, account, passwordHash);
  await appendToOutbox(trx, {
    subject: authEvents.accountCreated.subject,
    aggregate: `account:${account.id}`,
    version: 1,
    data: { svc_user_id: account.id, account_type: account.accountType },
  });
};
