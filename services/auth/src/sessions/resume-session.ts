import { AppError } from '@svc/service-kit';
import { findAccountById } from '../accounts/index.ts';
import { isOwnOrigin } from '../own-origins.ts';
import { type AuthenticateSessionDeps, findStoredSession } from './authenticate-session.ts';
import { type RenewedSession, renewSession } from './renew-session.ts';

/**
 * Resumes the console's session with a token that ends with it. Throws `not_authenticated` without a cookie or for
 * another origin, and `invalid_token` if the session has ended.
 */
export const resumeSession = async (
  deps: AuthenticateSessionDeps,
  request: { token: string | undefined; origin: string | undefined },
): Promise<RenewedSession> => {
  if (request.token === undefined || !isOwnOrigin(request.origin, deps.publicBaseUrl))
    throw new AppError('not_authenticated');
  const session = await findStoredSession(deps, request.token);
  const account = session === undefined ? undefined : await findAccountById(deps.database, session.userId);
  if (session === undefined || account === undefined) throw new AppError('invalid_token');
  return await renewSession(deps, session, account);
};
