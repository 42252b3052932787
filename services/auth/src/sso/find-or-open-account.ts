import { createAccountRequestSchema, type newId } from '@svc/contracts';
import { isUniqueViolation } from '@svc/database';
import type { Clock } from '@svc/service-kit';
import {
  type AccountRecord,
  EMAIL_KEY,
  findAccountByEmail,
  findAccountById,
  lockAccount,
  normalizeEmail,
  openAccount,
  updateCredentials,
} from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { endAccountAccess } from '../credentials/index.ts';
import { removeAllFactors } from '../factors/index.ts';
import { voidMailedTokens } from '../mailed-tokens/index.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { deleteIdentitiesOfUser, findUserIdByIdentity, insertIdentity } from './queries.ts';
import type { UpstreamIdentity } from './upstream-provider.ts';

export interface FindOrOpenAccountDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

const { email: emailSchema, display_name: displayNameSchema } = createAccountRequestSchema.shape;

/**
 * Returns the account of an identity: the linked one; else, if the provider has verified the address, the one with that
 * address or a new personal one. Returns undefined if the address is not verified.
 */
export const findOrOpenAccount = async (
  deps: FindOrOpenAccountDeps,
  identity: UpstreamIdentity,
  source: string,
): Promise<AccountRecord | undefined> => {
  const known = await findLinkedAccount(deps, identity);
  const email = emailSchema.safeParse(normalizeEmail(identity.email ?? ''));
  if (known !== undefined || !identity.isEmailVerified || !email.success) return known;
  try {
    return await deps.transact((trx) => linkAccount(deps, trx, { identity, email: email.data, source }));
  } catch (error) {
    // Two concurrent tabs: the other one opened or linked the account.
    if (!isUniqueViolation(error, EMAIL_KEY) && !isUniqueViolation(error, 'sso_identities_pkey')) throw error;
    return await findLinkedAccount(deps, identity);
  }
};

const findLinkedAccount = async (
  deps: { database: Executor },
  identity: UpstreamIdentity,
): Promise<AccountRecord | undefined> => {
  const userId = await findUserIdByIdentity(deps.database, identity);
  return userId === undefined ? undefined : await findAccountById(deps.database, userId);
};

const linkAccount = async (
  deps: FindOrOpenAccountDeps,
  trx: Transaction,
  { identity, email, source }: { identity: UpstreamIdentity; email: string; source: string },
): Promise<AccountRecord> => {
  const found = await findAccountByEmail(trx, email);
  const locked = found === undefined ? undefined : await lockAccount(trx, found.account.id);
  // Another tab may have linked the identity before this one locked the account.
  const linkedBefore = await findLinkedAccount({ database: trx }, identity);
  if (linkedBefore !== undefined) return linkedBefore;
  const account =
    locked === undefined
      ? await openPersonal(deps, trx, { identity, email })
      : await takeOver(deps, trx, { account: locked.account, source });
  await insertIdentity(trx, identity, { userId: account.id, linkedAt: deps.clock() });
  return account;
};

const openPersonal = async (
  deps: FindOrOpenAccountDeps,
  trx: Transaction,
  { identity, email }: { identity: UpstreamIdentity; email: string },
): Promise<AccountRecord> => {
  const displayName = displayNameSchema.safeParse(identity.name?.replaceAll('\0', ''));
  const now = deps.clock();
  const account: AccountRecord = {
    id: deps.newId('usr', now.getTime()),
    email,
    accountType: 'personal',
    businessName: null,
    locale: 'it',
    displayName: displayName.success ? (displayName.data ?? null) : null,
    hasSecondFactor: false,
    createdAt: now,
    emailVerifiedAt: now,
    firstSignedInAt: null,
    eraseAt: null,
    deletionVersion: 0,
    sessionsRevokedThrough: null,
  };
  await openAccount(trx, account, null);
  return account;
};

/**
 * Transfers an account to the proven owner of its address. Sign-up never proved the address, so the password, second
 * factors, identities, sessions, connections and API keys of the previous holder end. So do the links mailed to them,
 * which would move the account to another address.
 */
const takeOver = async (
  deps: FindOrOpenAccountDeps,
  trx: Transaction,
  { account, source }: { account: AccountRecord; source: string },
): Promise<AccountRecord> => {
  const now = deps.clock();
  await updateCredentials(trx, account.id, { passwordHash: null, emailVerifiedAt: now });
  await deleteIdentitiesOfUser(trx, account.id);
  await removeAllFactors(trx, account.id);
  await voidMailedTokens(trx, account.id, { purposes: ['reset_password', 'confirm_email', 'undo_email'] });
  const origin = originOf(source, 'browser');
  const verified = { ...account, emailVerifiedAt: now, hasSecondFactor: false };
  return await endAccountAccess(deps, trx, { account: verified, origin, now, keepAccess: false });
};
