import { sandboxRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Account } from './account.ts';
import { nowOf } from './advance-subscription.ts';
import { clockOf } from './hosted-subscription.ts';
import { findPrice } from './invoice-change.ts';
import type { Portal } from './objects.ts';
import { languageOf } from './pages/page-language.ts';
import { pageUrl, replyToLostForm, replyToMissing, seeOther } from './pages/page-replies.ts';
import { portalPage } from './pages/portal-page.ts';
import { submitPortal } from './submit-portal.ts';
import { findManaged } from './subscriptions.ts';

/** Time for which a visit to the portal lasts. */
const PORTAL_SECONDS = 3_600;

/** Routes of the portal page. */
export const portalRoutes = (account: Account): Binding[] => [
  bind(sandboxRoutes.showSandboxPortal, async ({ params, query, req }) => {
    const portal = findPortal(account, params.session_id);
    if (portal === undefined) return replyToMissing(req, query.locale);
    const subscription = findManaged(account, portal.customer);
    const now = nowOf(account);
    return portalPage({
      portal: {
        id: portal.id,
        customer: portal.customer,
        returnUrl: portal.return_url,
        isChallenged: portal.sandbox.is_challenged,
      },
      subscription,
      price: subscription && findPrice(account, subscription),
      clock: subscription === undefined ? now : clockOf(subscription, now),
      offer: account.catalog,
      notice: query.notice,
      language: languageOf(req, query.locale),
    });
  }),
  bind(sandboxRoutes.submitSandboxPortal, async ({ params, body: { action, plan_id: planId, card, locale }, req }) => {
    const path = `/sandbox/payments/portal/${encodeURIComponent(params.session_id)}`;
    const portal = findPortal(account, params.session_id);
    if (portal === undefined) return replyToLostForm(req, pageUrl(path, { locale }));
    if (action === 'return') return seeOther(portal.return_url);
    const notice = await submitPortal(account, portal, { action, planId, card });
    return seeOther(pageUrl(path, { locale, notice }));
  }),
];

/** Finds a visit to the portal that has not expired. */
const findPortal = ({ objects }: Account, id: string): Portal | undefined => {
  const portal = objects.of('billing_portal.session', id);
  return portal !== undefined && portal.created + PORTAL_SECONDS > objects.nowSeconds() ? portal : undefined;
};
