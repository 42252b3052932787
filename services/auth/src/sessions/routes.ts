import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { findAccountById, toAccountJson } from '../accounts/index.ts';
import type { Transact } from '../transact.ts';
import { endSession } from './end-session.ts';
import { SESSION_SECONDS } from './session.ts';
import { clearedSessionCookie, sessionCookie } from './session-cookie.ts';
import { type StartSessionDeps, signIn } from './start-session.ts';

/** What the session endpoints need. */
export interface SessionRoutesDeps extends StartSessionDeps {
  transact: Transact;
}

/** Serves sign-in, the current session and sign-out. */
export const sessionRoutes = (deps: SessionRoutesDeps): Binding[] => [
  bind(routes.createSession, async ({ body, clientAddress }) => {
    const { token, account } = await signIn(deps, body, clientAddress);
    return {
      status: 201,
      body: {
        session_token: token,
        token_type: 'Bearer',
        expires_in: SESSION_SECONDS,
        account: toAccountJson(account),
      },
      headers: { 'set-cookie': sessionCookie(token, deps.publicBaseUrl) },
    };
  }),
  bind(routes.getSession, async ({ caller }) => {
    const account = await findAccountById(deps.database, caller.userId);
    if (account === undefined) throw new AppError('invalid_token');
    return { status: 200, body: { account: toAccountJson(account), expires_at: caller.expiresAt.toISOString() } };
  }),
  bind(routes.deleteSession, async ({ caller }) => {
    await endSession(deps, caller.sessionId);
    return { status: 204, headers: { 'set-cookie': clearedSessionCookie(deps.publicBaseUrl) } };
  }),
];
