import { routes, type secondFactorRequestSchema } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { z } from 'zod';
import { describeAccount, findAccountById } from '../accounts/index.ts';
import { createSignInOptions, type FactorClaim } from '../factors/index.ts';
import { findStoredSession } from './authenticate-session.ts';
import { endOtherSessions, endSession, endSessionOfUser } from './end-session.ts';
import { finishSignIn } from './finish-sign-in.ts';
import { listSessions } from './list-sessions.ts';
import { resumeSession } from './resume-session.ts';
import { clearedSessionCookies, readConsoleCookie, sessionCookies } from './session-cookies.ts';
import { toSessionJson } from './session-json.ts';
import { signInOriginOf } from './sign-in-origin.ts';
import { signInWithPasskey } from './sign-in-with-passkey.ts';
import { type StartSessionDeps, signIn } from './start-session.ts';

/** Binds the routes of sign-in, the current session and sign-out. */
export const sessionRoutes = (deps: StartSessionDeps): Binding[] => [
  bind(routes.createSession, async ({ body, clientAddress, req, res }) => {
    const started = await signIn(deps, body, signInOriginOf({ req, clientAddress }, deps.publicBaseUrl));
    res.appendHeader('set-cookie', sessionCookies(started, deps.publicBaseUrl));
    return { status: 201, body: toSessionJson(started, started.session.createdAt) };
  }),
  bind(routes.finishSignIn, async ({ body, clientAddress, req, res }) => {
    const step = { challenge: body.challenge, claim: toClaim(body) };
    const started = await finishSignIn(deps, step, signInOriginOf({ req, clientAddress }, deps.publicBaseUrl));
    res.appendHeader('set-cookie', sessionCookies(started, deps.publicBaseUrl));
    return { status: 201, body: toSessionJson(started, started.session.createdAt) };
  }),
  bind(routes.createPasskeySignInOptions, async () => ({ status: 200, body: createSignInOptions(deps) })),
  bind(routes.signInWithPasskey, async ({ body, clientAddress, req, res }) => {
    const started = await signInWithPasskey(deps, body, signInOriginOf({ req, clientAddress }, deps.publicBaseUrl));
    res.appendHeader('set-cookie', sessionCookies(started, deps.publicBaseUrl));
    return { status: 201, body: toSessionJson(started, started.session.createdAt) };
  }),
  bind(routes.resumeSession, async ({ req, res }) => {
    const token = readConsoleCookie(req.headers.cookie, deps.publicBaseUrl);
    const resuming = resumeSession(deps, { token, origin: req.headers.origin });
    const resumed = await resuming.catch((error: unknown) => {
      const isEnded = error instanceof AppError && error.code === 'invalid_token';
      if (isEnded) res.appendHeader('set-cookie', clearedSessionCookies(deps.publicBaseUrl));
      throw error;
    });
    return { status: 200, body: toSessionJson(resumed, deps.clock()) };
  }),
  bind(routes.getSession, async ({ caller }) => {
    const found = await findAccountById(deps.database, caller.personId);
    if (found === undefined) throw new AppError('invalid_token');
    const account = await describeAccount(deps.database, found, caller.organization?.id);
    return { status: 200, body: { account, expires_at: caller.expiresAt.toISOString() } };
  }),
  bind(routes.deleteSession, async ({ caller, req, res }) => {
    await endSession(deps, caller.sessionId);
    const cookie = readConsoleCookie(req.headers.cookie, deps.publicBaseUrl);
    const signIn = cookie === undefined ? undefined : await findStoredSession(deps, cookie);
    // A tab that acts for an organization signs the browser out too.
    if (signIn?.userId === caller.personId) await endSession(deps, signIn.id);
    res.appendHeader('set-cookie', clearedSessionCookies(deps.publicBaseUrl));
    return { status: 204 };
  }),
  bind(routes.listSessions, async ({ caller }) => ({ status: 200, body: { data: await listSessions(deps, caller) } })),
  bind(routes.deleteSessionById, async ({ params, caller }) => {
    await endSessionOfUser(deps, caller.userId, params.session_id);
    return { status: 204 };
  }),
  bind(routes.deleteOtherSessions, async ({ caller }) => {
    await endOtherSessions(deps, caller);
    return { status: 204 };
  }),
];

/** The contract requires exactly one of the three. */
const toClaim = (body: z.output<typeof secondFactorRequestSchema>): FactorClaim => {
  if (body.assertion != null) return { assertion: body.assertion };
  return body.code != null ? { code: body.code } : { recoveryCode: body.recovery_code ?? '' };
};
