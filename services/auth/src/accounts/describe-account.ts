import type { Account } from '@svc/contracts';
import { findActingMembership, toOrganizationJson } from '../memberships/index.ts';
import type { Executor } from '../transact.ts';
import { type AccountRecord, toAccountJson } from './account.ts';

/**
 * Maps an account to the JSON that its owner sees, with the present role in the organization that they act for. Without
 * one named, a business account acts for itself.
 */
export const describeAccount = async (
  executor: Executor,
  account: AccountRecord,
  organizationId: string | null = account.accountType === 'business' ? account.id : null,
): Promise<Account> => {
  const key = organizationId === null ? undefined : { organizationId, userId: account.id };
  const acting = key === undefined ? undefined : await findActingMembership(executor, key);
  return toAccountJson(account, toOrganizationJson(acting ?? null));
};

/**
 * Maps an account as it is after the sign-up. Reads nothing: the answer to a taken address describes an account that does
 * not exist.
 */
export const describeNewAccount = (account: AccountRecord): Account =>
  toAccountJson(
    account,
    account.accountType === 'business' ? { id: account.id, name: account.businessName ?? '', role: 'owner' } : null,
  );
