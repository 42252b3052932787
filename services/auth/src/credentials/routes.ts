import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type StartedSession, sessionCookies, toSessionJson } from '../sessions/index.ts';
import { type ChangeCredentialsDeps, changeEmail, changePassword } from './change-credentials.ts';

/** Serves the change of password and of address. */
export const credentialRoutes = (deps: ChangeCredentialsDeps): Binding[] => {
  const answer = (started: StartedSession, res: { appendHeader: (name: string, value: string[]) => unknown }) => {
    res.appendHeader('set-cookie', sessionCookies(started.token, deps.publicBaseUrl));
    return { status: 200, body: toSessionJson(started, started.session.createdAt) };
  };
  return [
    bind(routes.changePassword, async ({ body, caller, clientAddress, res }) => {
      const claim = { caller, password: body.current_password ?? undefined, source: clientAddress };
      const change = { newPassword: body.new_password, revokeAccess: body.revoke_access };
      return answer(await changePassword(deps, claim, change), res);
    }),
    bind(routes.changeEmail, async ({ body, caller, clientAddress, res }) => {
      const claim = { caller, password: body.current_password ?? undefined, source: clientAddress };
      return answer(await changeEmail(deps, claim, body.email), res);
    }),
  ];
};
