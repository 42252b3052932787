import { type Account, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { findActingMembership, toOrganizationJson } from '../memberships.ts';
import type { Executor } from '../transact.ts';
import { type AccountRecord, toAccountJson } from './account.ts';
import { type CreateAccountDeps, createAccount } from './create-account.ts';
import { confirmVerification, requestVerification } from './mailed-links.ts';

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
const describeNewAccount = (account: AccountRecord): Account =>
  toAccountJson(
    account,
    account.accountType === 'business' ? { id: account.id, name: account.businessName ?? '', role: 'owner' } : null,
  );

/** Binds the routes of sign-up and address confirmation. */
export const accountRoutes = (deps: CreateAccountDeps): Binding[] => [
  bind(routes.createAccount, async ({ body, clientAddress }) => {
    const input = {
      email: body.email,
      password: body.password,
      accountType: body.account_type,
      businessName: body.business_name ?? null,
      displayName: body.display_name ?? null,
      locale: body.locale,
    };
    const account = await createAccount(deps, input, clientAddress);
    return { status: 201, body: { account: describeNewAccount(account) } };
  }),
  bind(routes.requestVerification, async ({ caller }) => {
    await requestVerification(deps, caller.userId);
    return { status: 202 };
  }),
  bind(routes.confirmVerification, async ({ body }) => {
    const account = await confirmVerification(deps, body.token);
    return { status: 200, body: { account: await describeAccount(deps.database, account) } };
  }),
];
