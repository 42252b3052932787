import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { SandboxDeps } from './announce-changes.ts';
import { findBusiness, saveBusiness } from './invoice-queries.ts';
import { checkoutPage } from './pages/checkout-page.ts';
import { languageOf } from './pages/page-language.ts';
import { pageUrl, replyToLostForm, replyToMissing, seeOther } from './pages/page-replies.ts';
import { paySession } from './pay-session.ts';
import { toPromotion } from './promotion.ts';
import type { SandboxSession } from './sandbox-session.ts';
import { findSession, updatePromotion } from './session-queries.ts';
import { submitCheckout } from './submit-checkout.ts';
import { findSubscription } from './subscription-queries.ts';

/** Routes of the checkout page. */
export const checkoutRoutes = (deps: SandboxDeps): Binding[] => [
  bind(routes.showSandboxCheckout, async ({ params, query, req }) => {
    const session = await findSession(deps.database, params.session_id);
    if (session === undefined) return replyToMissing(req, query.locale);
    return checkoutPage({
      session,
      business: await findBusiness(deps.database, session.customer),
      plan: session.planId === null ? undefined : deps.offer.find(session.planId),
      isReverted: await isReverted(deps, session),
      notice: query.notice,
      language: languageOf(req, query.locale),
    });
  }),
  bind(routes.submitSandboxCheckout, async ({ params, body, req }) => {
    const { action, card, locale, business_name: businessName, vat_number: vatNumber } = body;
    const id = params.session_id;
    const path = `/sandbox/payments/sessions/${encodeURIComponent(id)}`;
    const page = pageUrl(path, { locale });
    const session = await findSession(deps.database, id);
    if (session === undefined) return replyToLostForm(req, page);
    if (action === 'cancel') return seeOther(session.cancelUrl);
    if (action === 'apply_code' || action === 'remove_code') {
      const promotion = action === 'apply_code' ? toPromotion(body.promotion_code, session.amountMicros) : null;
      if (promotion === undefined) return seeOther(pageUrl(path, { locale, notice: 'unknown_code' }));
      await updatePromotion(deps.database, id, promotion);
      return seeOther(page);
    }
    if (action === 'pay' && vatNumber !== undefined) {
      await saveBusiness(deps.database, session.customer, { businessName: businessName ?? null, vatNumber });
    }
    if (!(await submitCheckout(deps, session, { action, card }))) return seeOther(page);
    const paid = (await findSession(deps.database, id)) ?? session;
    return seeOther((await isReverted(deps, paid)) ? page : session.successUrl);
  }),
  bind(routes.completeSandboxCheckout, async ({ params }) => {
    const { id } = await paySession(deps, params.session_id);
    return { status: 200, body: { session_id: id, status: 'complete' } };
  }),
];

const isReverted = async ({ database }: SandboxDeps, { subscriptionId }: SandboxSession): Promise<boolean> =>
  subscriptionId !== null && (await findSubscription(database, subscriptionId))?.wasReverted === true;
