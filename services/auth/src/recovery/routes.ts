import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { signInOriginOf } from '../sessions/index.ts';
import { type ConfirmResetDeps, confirmReset } from './confirm-reset.ts';
import { type RequestResetDeps, requestReset } from './request-reset.ts';

/** Binds the routes of a forgotten password. */
export const recoveryRoutes = (
  deps: RequestResetDeps & ConfirmResetDeps & { readonly publicBaseUrl: string },
): Binding[] => [
  bind(routes.requestPasswordReset, async ({ body, clientAddress, req }) => {
    const { deviceToken, source } = signInOriginOf({ req, clientAddress }, deps.publicBaseUrl);
    await requestReset(deps, { email: body.email, deviceToken }, source);
    return { status: 202 };
  }),
  bind(routes.confirmPasswordReset, async ({ body, clientAddress }) => {
    const { token, password, keep_access: keepAccess } = body;
    await confirmReset(deps, { token, password, keepAccess, source: clientAddress });
    return { status: 204 };
  }),
];
