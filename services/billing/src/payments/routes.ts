import { internalRoutes, routes } from '@svc/contracts';
import {
  type Binding,
  bind,
  type ConsoleSessionCaller,
  requireRecentAuthentication,
  type StepUp,
} from '@svc/service-kit';
import type { SubscriptionDeps } from '../subscriptions/index.ts';
import { AUTO_TOP_UP_DEFAULTS } from './auto-top-up.ts';
import { findAutoTopUp } from './auto-top-up-queries.ts';
import { changeAutoTopUp } from './change-auto-top-up.ts';
import { type ChangeSeatsDeps, changeSeats } from './change-seats.ts';
import { confirmCheckout } from './confirm-checkout.ts';
import { createSubscriptionCheckout, createTopUpCheckout } from './create-checkout.ts';
import { openPortal } from './open-portal.ts';
import { type RefundDeps, refundTopUp } from './refund-top-up.ts';
import { listInvoices } from './stripe/index.ts';

/** Binds the routes of purchases. */
export const paymentRoutes = (deps: ChangeSeatsDeps & SubscriptionDeps & { readonly stepUp: StepUp }): Binding[] => [
  bind(routes.createCheckout, async ({ caller, act, body }) => ({
    status: 200,
    body: await createSubscriptionCheckout(deps, { ...buyerOf(caller), act }, body),
  })),
  bind(routes.createTopUp, async ({ caller, act, body }) => {
    const { session_id, url } = await createTopUpCheckout(deps, { ...buyerOf(caller), act }, body);
    return { status: 200, body: { session_id, url } };
  }),
  bind(routes.confirmCheckout, async ({ caller, act, body }) => ({
    status: 200,
    body: await confirmCheckout(deps, { userId: caller.userId, act }, body.session_id),
  })),
  bind(routes.changeSeats, async ({ caller, act, body }) => ({
    status: 200,
    body: await changeSeats(deps, { ...buyerOf(caller), act }, body),
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
  bind(routes.changeAutoTopUp, async ({ caller, act, body }) => {
    if (body.enabled) requireRecentAuthentication(caller, deps.stepUp);
    return { status: 200, body: await changeAutoTopUp(deps, { ...buyerOf(caller), act }, body) };
  }),
  bind(routes.createPortalSession, async ({ caller, act, body }) => ({
    status: 200,
    body: await openPortal(deps, { ...buyerOf(caller), returnUrl: body.return_url, act }),
  })),
];

/** Returns the account that pays, and the language of its pages. */
const buyerOf = ({ userId, locale }: ConsoleSessionCaller) => ({ userId, locale });

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
