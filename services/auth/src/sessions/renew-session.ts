import { AppError } from '@svc/service-kit';
import type { AccountRecord } from '../accounts/index.ts';
import type { Executor } from '../transact.ts';
import { findActing } from './acting.ts';
import type { SessionRecord } from './session.ts';
import { type SessionTokenDeps, signSessionToken } from './session-token.ts';
import type { StartedSession } from './start-session.ts';

/** A session with a new token. */
export type RenewedSession = Omit<StartedSession, 'deviceToken'>;

/**
 * Signs a new token for a session, with the current claims of the account and the current role. Throws `invalid_token` if
 * the person may no longer act for the organization.
 */
export const renewSession = async (
  deps: SessionTokenDeps & { readonly database: Executor },
  session: SessionRecord,
  account: AccountRecord,
): Promise<RenewedSession> => {
  const acting = await findActing(deps.database, session, account);
  if (acting === undefined) throw new AppError('invalid_token');
  return { session, account, acting, ...(await signSessionToken(deps, session, { account, acting })) };
};
