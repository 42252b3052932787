import type { IncomingMessage } from 'node:http';
import { type reauthenticateRequestSchema, routes } from '@svc/contracts';
import { AppError, type Binding, bind, type ConsoleSessionCaller } from '@svc/service-kit';
import type { z } from 'zod';
import { describeAccount } from '../accounts/index.ts';
import { createAssertionOptions, type FactorClaim } from '../factors/index.ts';
import { type StartedSession, secondsLeft, sessionCookies, signInOriginOf, toSessionJson } from '../sessions/index.ts';
import { type ChangeEmailDeps, confirmEmailChange, requestEmailChange, undoEmailChange } from './change-email.ts';
import { type ChangePasswordDeps, changePassword } from './change-password.ts';
import { type OwnerClaim, type ReauthenticateDeps, reauthenticate } from './prove-owner.ts';

/** Binds the routes for changes of password and address, and for step-up. */
export const credentialRoutes = (deps: ChangePasswordDeps & ChangeEmailDeps & ReauthenticateDeps): Binding[] => {
  const answer = (started: StartedSession, res: { appendHeader: (name: string, value: string[]) => unknown }) => {
    res.appendHeader('set-cookie', sessionCookies(started, deps.publicBaseUrl));
    return { status: 200, body: toSessionJson(started, started.session.createdAt) };
  };
  const toClaim = (
    body: { current_password?: string | null | undefined },
    request: { caller: ConsoleSessionCaller; clientAddress: string; req: IncomingMessage },
  ): OwnerClaim => ({
    caller: request.caller,
    password: body.current_password ?? undefined,
    ...signInOriginOf(request, deps.publicBaseUrl),
  });
  return [
    bind(routes.createReauthenticationOptions, async ({ caller: { userId } }) => {
      const options = await createAssertionOptions(deps, { purpose: 'reauthentication', userId });
      if (options === undefined) throw new AppError('second_factor_missing');
      return { status: 200, body: options };
    }),
    bind(routes.reauthenticate, async ({ body, caller }) => {
      const { token, tokenExpiresAt } = await reauthenticate(deps, caller, toProof(body));
      const expiresIn = secondsLeft(tokenExpiresAt, deps.clock());
      return { status: 200, body: { session_token: token, token_type: 'Bearer', expires_in: expiresIn } };
    }),
    bind(routes.changePassword, async (request) => {
      const { body } = request;
      const change = { newPassword: body.new_password, revokeAccess: body.revoke_access };
      return answer(await changePassword(deps, toClaim(body, request), change), request.res);
    }),
    bind(routes.changeEmail, async (request) => {
      const { body } = request;
      const email = await requestEmailChange(deps, toClaim(body, request), body.email);
      return { status: 202, body: { pending_email: email } };
    }),
    bind(routes.confirmEmailChange, async ({ body }) => {
      const account = await confirmEmailChange(deps, body.token);
      return { status: 200, body: { account: await describeAccount(deps.database, account) } };
    }),
    bind(routes.undoEmailChange, async ({ body, clientAddress }) => {
      const account = await undoEmailChange(deps, body.token, clientAddress);
      return { status: 200, body: { account: await describeAccount(deps.database, account) } };
    }),
  ];
};

/** The contract requires exactly one of the three. */
const toProof = (body: z.output<typeof reauthenticateRequestSchema>): { password: string } | FactorClaim => {
  if (body.assertion != null) return { assertion: body.assertion };
  return body.code != null ? { code: body.code } : { password: body.password ?? '' };
};
