import type { AccountRecord } from '../accounts/index.ts';
import type { SessionRecord } from './session.ts';
import { type SessionTokenDeps, signSessionToken } from './session-token.ts';
import type { StartedSession } from './start-session.ts';

/** A session with a new token. */
export type RenewedSession = Omit<StartedSession, 'deviceToken'>;

/** Signs a new token for a session, with the current claims of the account. */
export const renewSession = async (
  deps: SessionTokenDeps,
  session: SessionRecord,
  account: AccountRecord,
): Promise<RenewedSession> => ({
  session,
  account,
  ...(await signSessionToken(deps, session, account)),
});
