import { routes } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { AppError, type Binding, bind, type Clock } from '@svc/service-kit';
import { redeemMailedToken, updateErasure } from '../accounts/index.ts';
import { voidMailedTokens } from '../mailed-tokens.ts';
import { clearedSessionCookies, signInOriginOf } from '../sessions/index.ts';
import type { Transact } from '../transact.ts';
import { nextDeletion } from './deletion-fact.ts';
import { type RequestDeletionDeps, requestDeletion } from './request-deletion.ts';

/** Cancels the deletion of an account. Its apps stay deactivated. Throws `token_invalid`. */
const cancelDeletion = async (
  deps: { readonly transact: Transact; readonly clock: Clock },
  token: string,
): Promise<void> => {
  await deps.transact(async (trx) => {
    const { account } = await redeemMailedToken(trx, { purpose: 'cancel_deletion', token, now: deps.clock() });
    if (account.eraseAt === null) throw new AppError('token_invalid');
    const fact = nextDeletion(account);
    await updateErasure(trx, account.id, { eraseAt: null, deletionVersion: fact.version });
    await voidMailedTokens(trx, account.id, { purposes: ['cancel_deletion'] });
    await appendToOutbox(trx, fact.cancelled);
  });
};

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
