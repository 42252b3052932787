import { type PasskeyAssertion, routes, type secondFactorRequestSchema } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { z } from 'zod';
import { type AccountRecord, describeAccount, findAccountById, toAccountJson } from '../accounts/index.ts';
import { isOwnOrigin } from '../cookies-and-origins.ts';
import { createSignInOptions, type FactorClaim, findAssertionProof } from '../factors/index.ts';
import { toOrganizationJson } from '../memberships.ts';
import { SECOND_MS } from '../time.ts';
import type { Executor } from '../transact.ts';
import { endOtherSessions, endSession, endSessionOfUser } from './end-sessions.ts';
import { type AuthenticateSessionDeps, findStoredSession, listSessions } from './live-sessions.ts';
import { findActing, type SessionRecord } from './session.ts';
import {
  clearedSessionCookies,
  readConsoleCookie,
  type SignInOrigin,
  sessionCookies,
  signInOriginOf,
} from './session-cookies.ts';
import { type SessionTokenDeps, signSessionToken } from './session-token.ts';
import { finishSignIn, type StartedSession, type StartSessionDeps, signIn, startSessionIn } from './sign-in.ts';

/**
 * Signs in the owner of a passkey, without address and password. Uses up the assertion in the same transaction as the
 * session starts. Throws `invalid_passkey`, and `too_many_attempts` if the source keeps failing.
 */
export const signInWithPasskey = async (
  deps: StartSessionDeps,
  assertion: PasskeyAssertion,
  origin: SignInOrigin,
): Promise<StartedSession> => {
  const attempt = await deps.throttle.begin({ source: origin.source });
  const proof = await findAssertionProof(deps, assertion, { purpose: 'sign_in', userId: undefined });
  const account = proof === undefined ? undefined : await findAccountById(deps.database, proof.userId);
  if (proof === undefined || account === undefined) {
    await attempt.fail();
    throw new AppError('invalid_passkey');
  }
  await attempt.succeed();
  return await deps.transact(async (trx) => {
    if (!(await proof.use(trx))) throw new AppError('invalid_passkey');
    return await startSessionIn(deps, trx, { account, origin });
  });
};

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

/**
 * Resumes the console's session with a token that ends with it. Throws `not_authenticated` without a cookie or for
 * another origin, and `invalid_token` if the session has ended.
 */
const resumeSession = async (
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

/** Maps a session to the JSON that its owner sees, with its tokens. */
export const toSessionJson = (
  { token, tokenExpiresAt, account, acting, deviceToken }: RenewedSession & { deviceToken?: string },
  now: Date,
) => ({
  session_token: token,
  token_type: 'Bearer',
  expires_in: secondsLeft(tokenExpiresAt, now),
  account: toAccountJson(account, toOrganizationJson(acting)),
  ...(deviceToken === undefined ? {} : { device_token: deviceToken }),
});

/** Returns the whole seconds until the given time. */
export const secondsLeft = (until: Date, now: Date): number =>
  Math.floor((until.getTime() - now.getTime()) / SECOND_MS);

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
