import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { SandboxDeps } from './announce-changes.ts';
import { languageOf } from './pages/page-language.ts';
import { pageUrl, replyToLostForm, replyToMissing, seeOther } from './pages/page-replies.ts';
import { portalPage } from './pages/portal-page.ts';
import { findPortal } from './portal-queries.ts';
import { readClock } from './read-clock.ts';
import { clockOf } from './sandbox-subscription.ts';
import { submitPortal } from './submit-portal.ts';
import { findPortalSubscription } from './subscription-queries.ts';
import { findPrice } from './write-invoice.ts';

/** Routes of the portal page. */
export const portalRoutes = (deps: SandboxDeps): Binding[] => [
  bind(routes.showSandboxPortal, async ({ params, query, req }) => {
    const portal = await findPortal(deps.database, params.session_id);
    if (portal === undefined) return replyToMissing(req, query.locale);
    const subscription = await findPortalSubscription(deps.database, portal.customer);
    const now = await readClock(deps.database);
    return portalPage({
      portal,
      subscription,
      price: subscription && (await findPrice(deps, deps.database, subscription)),
      clock: subscription === undefined ? now : clockOf(subscription, now),
      offer: deps.offer,
      notice: query.notice,
      language: languageOf(req, query.locale),
    });
  }),
  bind(routes.submitSandboxPortal, async ({ params, body: { action, plan_id: planId, card, locale }, req }) => {
    const path = `/sandbox/payments/portal/${encodeURIComponent(params.session_id)}`;
    const portal = await findPortal(deps.database, params.session_id);
    if (portal === undefined) return replyToLostForm(req, pageUrl(path, { locale }));
    if (action === 'return') return seeOther(portal.returnUrl);
    const notice = await submitPortal(deps, portal, { action, planId, card });
    return seeOther(pageUrl(path, { locale, notice }));
  }),
];
