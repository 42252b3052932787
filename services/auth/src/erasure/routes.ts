import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { clearedSessionCookies, signInOriginOf } from '../sessions/index.ts';
import { cancelDeletion } from './cancel-deletion.ts';
import { type RequestDeletionDeps, requestDeletion } from './request-deletion.ts';

/** Binds the routes of account deletion. */
export const erasureRoutes = (deps: RequestDeletionDeps & { readonly publicBaseUrl: string }): Binding[] => [
  bind(routes.deleteAccount, async (request) => {
    const { body, caller, act, res } = request;
    const origin = signInOriginOf(request, deps.publicBaseUrl);
    const eraseAt = await requestDeletion(deps, { caller, password: body?.password ?? undefined, ...origin }, act);
    res.appendHeader('set-cookie', clearedSessionCookies(deps.publicBaseUrl));
    return { status: 202, body: { erased_at: eraseAt.toISOString() } };
  }),
  bind(routes.cancelDeletion, async ({ body }) => {
    await cancelDeletion(deps, body.token);
    return { status: 204 };
  }),
];
