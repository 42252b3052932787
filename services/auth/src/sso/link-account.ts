import { AppError } from '@svc/service-kit';
import { type AccountRecord, findCredentialsById, lockAccount, redeemMailedToken } from '../accounts/index.ts';
import { type IdentityDeps, type IdentityKey, linkIdentity } from '../identities.ts';
import { enqueueMail } from '../mail/index.ts';
import { issueMailedToken } from '../mailed-tokens.ts';
import {
  findSessionById,
  holdSession,
  openChallenge,
  provePassword,
  type SecondStep,
  type SignInOrigin,
  type StartedSession,
  type StartSessionDeps,
  startSessionIn,
} from '../sessions/index.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import type { PendingLink } from './sso-cookie.ts';

export interface LinkDeps extends IdentityDeps {
  readonly database: Executor;
  readonly transact: Transact;
}

/** Links an identity to the account of a session. Returns false if the session has ended. Throws IdentityTaken. */
export const linkToSession = (
  deps: LinkDeps,
  identity: IdentityKey,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<boolean> =>
  deps.transact(async (trx) => {
    const account = (await lockAccount(trx, userId))?.account;
    const session = await findSessionById(trx, sessionId);
    if (account === undefined || session?.userId !== userId) return false;
    if (!(await holdSession(trx, { userId, sessionId }))) return false;
    await linkIdentity(deps, trx, { account, identity });
    return true;
  });

/**
 * Links the identity of this browser if the password is that of the account, and signs in. Returns the second step if
 * the account has one. Throws as `provePassword`, IdentityTaken and `account_deletion_pending`.
 */
export const linkByPassword = async (
  deps: LinkDeps & StartSessionDeps,
  { link, password }: { link: PendingLink; password: string },
  origin: SignInOrigin,
): Promise<{ started: StartedSession } | { step: SecondStep }> => {
  const account = await provePassword(deps, { email: link.email, password }, origin);
  if (account.id !== link.userId) throw new AppError('invalid_credentials');
  if (account.hasSecondFactor) return { step: await openChallenge(deps, account) };
  const started = await deps.transact(async (trx) => {
    const session = await startSessionIn(deps, trx, { account, origin });
    await completeLink(deps, link)(trx, account);
    return session;
  });
  return { started };
};

/** Returns what links the identity of this browser in the transaction that starts the session. */
export const completeLink =
  (deps: LinkDeps, link: PendingLink) =>
  async (trx: Transaction, account: AccountRecord): Promise<void> => {
    // The second step may be one of another account.
    if (account.id !== link.userId) throw new AppError('challenge_invalid');
    await linkIdentity(deps, trx, { account, identity: link });
  };

/** Mails a link that links the identity of this browser. The account may have changed its address meanwhile. */
export const mailLink = async (deps: LinkDeps, { userId, email, issuer, subject }: PendingLink): Promise<void> => {
  await deps.transact(async (trx) => {
    const account = (await lockAccount(trx, userId))?.account;
    if (account?.email !== email || account.eraseAt !== null) return;
    const identity = { issuer, subject };
    const token = await issueMailedToken(trx, { purpose: 'link_identity', userId, email, identity }, deps.clock());
    const data = { token, provider: deps.providerName };
    await enqueueMail(deps, trx, { kind: 'link_identity', userId, to: email, locale: account.locale, data });
  });
};

/** Links the identity of a mailed link. Throws `token_invalid`, also if the address has changed, and IdentityTaken. */
export const confirmMailedLink = async (deps: LinkDeps, token: string): Promise<void> => {
  await deps.transact(async (trx) => {
    const redeemed = await redeemMailedToken(trx, { purpose: 'link_identity', token, now: deps.clock() });
    const { account, token: used } = redeemed;
    const { issuer, subject } = used;
    const isCurrent = account.email === used.email && account.eraseAt === null;
    if (!isCurrent || issuer === null || subject === null) throw new AppError('token_invalid');
    await linkIdentity(deps, trx, { account, identity: { issuer, subject } });
  });
};

/** Returns true if the account of a link has a password to prove it with. */
export const hasPassword = async (deps: LinkDeps, { userId }: PendingLink): Promise<boolean> =>
  (await findCredentialsById(deps.database, userId))?.passwordHash != null;
