import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind, requireRecentAuthentication, type StepUp } from '@svc/service-kit';
import { AUTO_TOP_UP_DEFAULTS } from './auto-top-up.ts';
import { findAutoTopUp } from './auto-top-up-queries.ts';
import { changeAutoTopUp } from './change-auto-top-up.ts';
import { confirmCheckout } from './confirm-checkout.ts';
import { type CheckoutDeps, createSubscriptionCheckout, createTopUpCheckout } from './create-checkout.ts';
import { openPortal } from './open-portal.ts';
import { type RefundDeps, refundTopUp } from './refund-top-up.ts';
import type { SettleCheckoutDeps } from './settle-checkout.ts';
import { listInvoices } from './stripe/index.ts';

/** Binds the routes of purchases. */
export const paymentRoutes = (deps: CheckoutDeps & SettleCheckoutDeps & { readonly stepUp: StepUp }): Binding[] => [
  bind(routes.createCheckout, async ({ caller, body }) => ({
    status: 200,
    body: await createSubscriptionCheckout(deps, caller, body),
  })),
  bind(routes.createTopUp, async ({ caller, body }) => {
    const { session_id, url } = await createTopUpCheckout(deps, caller, body);
    return { status: 200, body: { session_id, url } };
  }),
  bind(routes.confirmCheckout, async ({ caller, body }) => ({
    status: 200,
    body: await confirmCheckout(deps, caller.userId, body.session_id),
  })),
  bind(routes.listInvoices, async ({ caller, query }) => ({
    status: 200,
    body: await listInvoices(deps, {
      userId: caller.userId,
      after: query.after,
      limit: query.limit,
    }),
  })),
  bind(routes.getAutoTopUp, async ({ caller }) => ({
    status: 200,
    body: (await findAutoTopUp(deps.database, caller.userId)) ?? AUTO_TOP_UP_DEFAULTS,
  })),
  bind(routes.changeAutoTopUp, async ({ caller, body }) => {
    if (body.enabled) requireRecentAuthentication(caller, deps.stepUp);
    return { status: 200, body: await changeAutoTopUp(deps, caller, body) };
  }),
  bind(routes.createPortalSession, async ({ caller, body }) => ({
    status: 200,
    body: await openPortal(deps, { userId: caller.userId, returnUrl: body.return_url, locale: caller.locale }),
  })),
];

/** Binds the internal routes of payments. */
export const paymentInternalRoutes = (deps: RefundDeps): Binding[] => [
  bind(internalRoutes.refundTopUp, async ({ params, body }) => ({
    status: 200,
    body: await refundTopUp(deps, {
      id: body.refund_id,
      userId: params.svc_user_id,
      sessionId: body.session_id,
      amountMicros: body.amount_micros,
    }),
  })),
];
