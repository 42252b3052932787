import { AppError, type ConsoleSessionCaller } from '@svc/service-kit';
import { findCredentialsById } from '../accounts/index.ts';
import {
  type BeginSessionDeps,
  type SignedSessionToken,
  signSessionToken,
  updateAuthenticatedAt,
} from '../sessions/index.ts';
import { checkPassword, type ProveOwnerDeps } from './prove-owner.ts';

export interface ReauthenticateDeps extends ProveOwnerDeps, BeginSessionDeps {}

/**
 * Checks again that the person at a session owns the account. Returns a token that says so. Throws
 * `wrong_password`, `too_many_attempts`, and `fresh_sign_in_required` if the account has no password.
 */
export const reauthenticate = async (
  deps: ReauthenticateDeps,
  caller: ConsoleSessionCaller,
  { password }: { password: string },
): Promise<SignedSessionToken> => {
  const owner = await findCredentialsById(deps.database, caller.userId);
  if (owner === undefined) throw new AppError('invalid_token');
  if (owner.passwordHash === null) throw new AppError('fresh_sign_in_required');
  await checkPassword(deps, owner, { password, sessionId: caller.sessionId });
  const session = await updateAuthenticatedAt(deps.database, caller.sessionId, deps.clock());
  if (session === undefined) throw new AppError('invalid_token');
  return await signSessionToken(deps, session, owner.account.accountType);
};
