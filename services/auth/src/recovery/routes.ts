import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type ConfirmResetDeps, confirmReset } from './confirm-reset.ts';
import { type RequestResetDeps, requestReset } from './request-reset.ts';

/** Binds the routes of a forgotten password. */
export const recoveryRoutes = (deps: RequestResetDeps & ConfirmResetDeps): Binding[] => [
  bind(routes.requestPasswordReset, async ({ body, clientAddress }) => {
    await requestReset(deps, body.email, clientAddress);
    return { status: 202 };
  }),
  bind(routes.confirmPasswordReset, async ({ body, clientAddress }) => {
    const { token, password, keep_access: keepAccess } = body;
    await confirmReset(deps, { token, password, keepAccess, source: clientAddress });
    return { status: 204 };
  }),
];
