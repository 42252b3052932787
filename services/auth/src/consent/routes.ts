import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { originOf, requireLiveBudget } from '../connections/index.ts';
import { checkAuthorizeRequest } from './authorize-request.ts';
import { approve, type DecideConsentDeps, deny } from './decide-consent.ts';
import { type GetConsentDeps, getConsent } from './get-consent.ts';

/** Binds the consent routes for pages with their own console session. */
export const consentRoutes = (deps: DecideConsentDeps & GetConsentDeps): Binding[] => [
  bind(routes.getConsent, async ({ query, caller, clientAddress }) => ({
    status: 200,
    body: await getConsent(deps, { userId: caller.userId, source: clientAddress, request: toRequest(query) }),
  })),
  bind(routes.decideConsent, async ({ body, caller, clientAddress }) => {
    if (body.approved && caller.isEmailUnverified === true) throw new AppError('email_not_verified');
    const origin = originOf(clientAddress, 'console');
    const { userId, sessionId } = caller;
    const { state, budget } = body;
    requireLiveBudget(budget, deps.clock());
    // Fetches the document of a client that is not registered, or refuses it.
    checkAuthorizeRequest(await deps.findApp(body.client_id, clientAddress), toRequest(body), 'body');
    const decision = { userId, sessionId, request: toRequest(body), state, budget, origin };
    const redirectTo = body.approved ? await approve(deps, decision) : await deny(deps, decision);
    return { status: 200, body: { redirect_to: redirectTo } };
  }),
];

interface WireRequest {
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly scope: string;
  readonly code_challenge: string;
  readonly dpop_jkt?: string | undefined;
}

const toRequest = (wire: WireRequest) => ({
  clientId: wire.client_id,
  redirectUri: wire.redirect_uri,
  scope: wire.scope,
  codeChallenge: wire.code_challenge,
  dpopThumbprint: wire.dpop_jkt,
  // Pushed requests are decided on the authorize page only.
  isPushed: false,
});
