import { AppError } from '@svc/service-kit';
import { IdentityTaken } from '../identities.ts';
import {
  NEVER,
  openChallenge,
  type SecondStep,
  type SignInOrigin,
  type StartedSession,
  type StartSessionDeps,
  startSessionIn,
} from '../sessions/index.ts';
import { type FindOrOpenAccountDeps, findOrOpenAccount } from './find-or-open-account.ts';
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
