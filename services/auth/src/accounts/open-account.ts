import { authEvents, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { foundersMembership, insertMembership } from '../memberships/index.ts';
import type { Transaction } from '../transact.ts';
import type { AccountRecord } from './account.ts';
import { insertAccount } from './queries.ts';

/** Constraint violated by a second account with the same address. */
export const EMAIL_KEY = 'accounts_email_key';

/**
 * Stores a new account, with or without a password, and appends the fact `auth.account.created`. A business account is the
 * first owner of itself. Violates EMAIL_KEY.
 */
export const openAccount = async (
  deps: { readonly newId: typeof newId },
  trx: Transaction,
  { account, passwordHash }: { account: AccountRecord; passwordHash: string | null },
): Promise<void> => {
  await insertAccount(trx, account, passwordHash);
  if (account.accountType === 'business') {
    await insertMembership(trx, foundersMembership(deps, account.id, account.createdAt));
  }
  await appendToOutbox(trx, {
    subject: authEvents.accountCreated.subject,
    aggregate: `account:${account.id}`,
    version: 1,
    data: { svc_user_id: account.id, account_type: account.accountType },
  });
};
