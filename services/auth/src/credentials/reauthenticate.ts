import { AppError, type ConsoleSessionCaller } from '@svc/service-kit';
import { type AccountRecord, findCredentialsById } from '../accounts/index.ts';
import { type FactorClaim, type FactorsDeps, findFactorProof } from '../factors/index.ts';
import {
  type BeginSessionDeps,
  renewSession,
  type SignedSessionToken,
  updateAuthenticatedAt,
} from '../sessions/index.ts';
import { checkPassword, type ProveOwnerDeps } from './prove-owner.ts';

export interface ReauthenticateDeps extends ProveOwnerDeps, BeginSessionDeps, FactorsDeps {}

/**
 * Authenticates the person at a session again, by password or second factor. Returns a token with the new time. Throws
 * `wrong_password`, `wrong_code`, `too_many_attempts`, and `fresh_sign_in_required` for a password if the account has
 * none.
 */
export const reauthenticate = async (
  deps: ReauthenticateDeps,
  caller: ConsoleSessionCaller,
  claim: { password: string } | FactorClaim,
): Promise<SignedSessionToken> => {
  const owner = await findCredentialsById(deps.database, caller.personId);
  if (owner === undefined) throw new AppError('invalid_token');
  if (!('password' in claim)) await useFactor(deps, owner.account, { claim, sessionId: caller.sessionId });
  else if (owner.passwordHash === null) throw new AppError('fresh_sign_in_required');
  else await checkPassword(deps, owner, { password: claim.password, sessionId: caller.sessionId });
  const session = await updateAuthenticatedAt(deps.database, caller.sessionId, deps.clock());
  if (session === undefined) throw new AppError('invalid_token');
  return await renewSession(deps, session, owner.account);
};

const useFactor = async (
  deps: ReauthenticateDeps,
  account: AccountRecord,
  { claim, sessionId }: { claim: FactorClaim; sessionId: string },
): Promise<void> => {
  const attempt = await deps.throttle.begin({ email: account.email, sessionId });
  const proof = await findFactorProof(deps, account, { claim, purpose: 'reauthentication' });
  if (proof === undefined) {
    await attempt.fail();
    throw new AppError('wrong_code');
  }
  await attempt.succeed();
  const isFirst = await deps.transact((trx) => proof.use(trx));
  if (!isFirst) throw new AppError('wrong_code');
};
