import { createAccountRequestSchema } from '@svc/contracts';
import { isUniqueViolation } from '@svc/database';
import { AppError } from '@svc/service-kit';
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
import { lockAppsOfOwner } from '../apps/index.ts';
import { originOf } from '../connections/index.ts';
import { endAccess } from '../credentials/index.ts';
import { findUserIdByIdentity, type IdentityDeps, IdentityTaken, insertIdentity } from '../identities.ts';
import { isAddressHeld } from '../mailed-tokens.ts';
import {
  NEVER,
  openChallenge,
  type SecondStep,
  type SignInOrigin,
  type StartedSession,
  type StartSessionDeps,
  startSessionIn,
} from '../sessions/index.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { linkToSession } from './link-account.ts';
import type { PendingLink, SsoAttempt } from './sso-cookie.ts';
import { UpstreamFailed, type UpstreamIdentity, type UpstreamProvider } from './upstream-provider.ts';

export interface FinishSsoDeps extends FindOrOpenAccountDeps, StartSessionDeps {
  readonly provider: UpstreamProvider;
}

/** Outcome of a return from the provider. */
export type SsoOutcome =
  | { readonly started: StartedSession }
  | { readonly step: SecondStep }
  | { readonly pendingLink: PendingLink }
  | 'linked'
  | 'cancelled';

/**
 * Signs in the person authenticated by the provider, or links the identity to the account of the session that asked.
 * The account's second factor and a link to an account whose address is verified are still to come. Throws
 * `sso_failed` and `account_deletion_pending`.
 */
export const finishSso = async (
  deps: FinishSsoDeps,
  { attempt, url, origin }: { attempt: SsoAttempt; url: URL; origin: SignInOrigin },
): Promise<SsoOutcome> => {
  const identity = await readIdentity(deps, url, attempt);
  if (identity === undefined) return 'cancelled';
  try {
    return await enter(deps, { attempt, identity, origin });
  } catch (error) {
    if (error instanceof IdentityTaken) throw ssoFailed('This identity belongs to another account.', error);
    throw error;
  }
};

const enter = async (
  deps: FinishSsoDeps,
  { attempt, identity, origin }: { attempt: SsoAttempt; identity: UpstreamIdentity; origin: SignInOrigin },
): Promise<SsoOutcome> => {
  if (attempt.linkTo !== undefined) {
    if (!(await linkToSession(deps, identity, attempt.linkTo))) throw ssoFailed('The session has ended meanwhile.');
    return 'linked';
  }
  const found = await findOrOpenAccount(deps, identity, origin.source);
  if (found === undefined) throw ssoFailed('The OpenID provider has not verified this address, or it is reserved.');
  const { account, isLinked } = found;
  if (account.eraseAt !== null) throw new AppError('account_deletion_pending');
  if (!isLinked) {
    const { issuer, subject } = identity;
    return { pendingLink: { issuer, subject, userId: account.id, email: account.email, returnTo: attempt.returnTo } };
  }
  // The provider authenticates the person as a password does. It never stands in for the account's second factor.
  if (account.hasSecondFactor) return { step: await openChallenge(deps, account) };
  const authenticatedAt = identity.authenticatedAt ?? NEVER;
  return { started: await deps.transact((trx) => startSessionIn(deps, trx, { account, origin, authenticatedAt })) };
};

/** Returns the identity; undefined if the person declined at the provider. Throws `sso_failed`. */
const readIdentity = async (
  { provider }: FinishSsoDeps,
  url: URL,
  attempt: SsoAttempt,
): Promise<UpstreamIdentity | undefined> => {
  try {
    return await provider.finish(url, attempt);
  } catch (error) {
    if (!(error instanceof UpstreamFailed)) throw error;
    if (error.isRefusal) return undefined;
    throw ssoFailed(undefined, error);
  }
};

/** Creates the error of single sign-on. Its cause is only logged. */
export const ssoFailed = (message?: string, cause?: unknown): AppError =>
  new AppError('sso_failed', message, { cause });

interface FindOrOpenAccountDeps extends IdentityDeps {
  readonly database: Executor;
  readonly transact: Transact;
}

/** Account of an identity. If `isLinked` is false, its owner has yet to prove it. */
interface FoundAccount {
  readonly account: AccountRecord;
  readonly isLinked: boolean;
}

const { email: emailSchema, display_name: displayNameSchema } = createAccountRequestSchema.shape;

/**
 * Returns the account of an identity: the linked one; else, if the provider has verified the address, the one with that
 * address or a new personal one. An account whose address was never verified passes to the identity; one whose address
 * was verified is not linked yet. Returns undefined if the provider has not verified the address, or if it is reserved
 * for an account that may return to it.
 */
const findOrOpenAccount = async (
  deps: FindOrOpenAccountDeps,
  identity: UpstreamIdentity,
  source: string,
): Promise<FoundAccount | undefined> => {
  const known = await findLinkedAccount(deps.database, identity);
  const email = emailSchema.safeParse(normalizeEmail(identity.email ?? ''));
  if (known !== undefined || !identity.isEmailVerified || !email.success) return known;
  try {
    return await deps.transact((trx) => findByAddress(deps, trx, { identity, email: email.data, source }));
  } catch (error) {
    // Two concurrent tabs: the other one opened the account.
    if (!isUniqueViolation(error, EMAIL_KEY)) throw error;
    return await findLinkedAccount(deps.database, identity);
  }
};

const findLinkedAccount = async (executor: Executor, identity: UpstreamIdentity): Promise<FoundAccount | undefined> => {
  const userId = await findUserIdByIdentity(executor, identity);
  const account = userId === undefined ? undefined : await findAccountById(executor, userId);
  return account && { account, isLinked: true };
};

interface Arrival {
  readonly identity: UpstreamIdentity;
  readonly email: string;
  readonly source: string;
}

const findByAddress = async (
  deps: FindOrOpenAccountDeps,
  trx: Transaction,
  arrival: Arrival,
): Promise<FoundAccount | undefined> => {
  const { identity, email } = arrival;
  const found = await findAccountByEmail(trx, email);
  if (found === undefined) return await openPersonal(deps, trx, arrival);
  // Locks apps before their owner, as consents do.
  if (found.account.emailVerifiedAt === null) await lockAppsOfOwner(trx, found.account.id);
  const account = (await lockAccount(trx, found.account.id))?.account;
  // Another tab may have linked the identity before this one locked the account.
  const linkedBefore = await findLinkedAccount(trx, identity);
  if (linkedBefore !== undefined) return linkedBefore;
  if (account?.email !== email) return undefined;
  // An account about to be deleted stays as it is: its sign-in is refused.
  const isOwners = account.emailVerifiedAt !== null || account.eraseAt !== null;
  return isOwners ? { account, isLinked: false } : await takeOver(deps, trx, { account, arrival });
};

const openPersonal = async (
  deps: FindOrOpenAccountDeps,
  trx: Transaction,
  { identity, email }: Arrival,
): Promise<FoundAccount | undefined> => {
  const displayName = displayNameSchema.safeParse(identity.name?.replaceAll('\0', ''));
  const now = deps.clock();
  const account: AccountRecord = {
    id: deps.newId('usr', now.getTime()),
    email,
    accountType: 'personal',
    businessName: null,
    requiresSecondFactor: false,
    locale: 'it',
    displayName: displayName.success ? (displayName.data ?? null) : null,
    hasSecondFactor: false,
    createdAt: now,
    emailVerifiedAt: now,
    firstSignedInAt: null,
    eraseAt: null,
    deletionVersion: 0,
    sessionsRevokedThrough: null,
    distrustedSince: null,
  };
  if (await isAddressHeld(trx, email, { now, exceptUserId: account.id })) return undefined;
  await openAccount(deps, trx, { account, passwordHash: null });
  if (!(await insertIdentity(trx, identity, { userId: account.id, linkedAt: now }))) throw new IdentityTaken();
  return { account, isLinked: true };
};

/**
 * Transfers an account to the proven owner of its address. Sign-up never proved the address, so everything that a
 * stranger may have put into the account ends.
 */
const takeOver = async (
  deps: FindOrOpenAccountDeps,
  trx: Transaction,
  { account, arrival }: { account: AccountRecord; arrival: Arrival },
): Promise<FoundAccount> => {
  const now = deps.clock();
  await updateCredentials(trx, account.id, { emailVerifiedAt: now, distrustedSince: null });
  const origin = originOf(arrival.source, 'browser');
  const taken = await endAccess(deps, trx, { account, origin, now, endings: ['take_over'] });
  await insertIdentity(trx, arrival.identity, { userId: account.id, linkedAt: now });
  return { account: taken, isLinked: true };
};
