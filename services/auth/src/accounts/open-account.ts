import { authEvents } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Transaction } from '../transact.ts';
import type { AccountRecord } from './account.ts';
import { insertAccount } from './queries.ts';

/** Constraint violated by a second account with the same address. */
export const EMAIL_KEY = 'accounts_email_key';

/**
 * Stores a new account, with or without a password, and appends the fact `auth.account.created`. Violates EMAIL_KEY.
 */
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
