import { type AutoTopUp, internalRoutes, type Locale, MICROS_PER_UNIT, routes } from '@svc/contracts';
import { recordAct } from '@svc/database';
import {
  type Act,
  AppError,
  type Binding,
  bind,
  type ConsoleSessionCaller,
  requireRecentAuthentication,
  type StepUp,
} from '@svc/service-kit';
import { isCustomer, type SubscriptionDeps } from '../subscriptions/index.ts';
import { findAutoTopUp, upsertAutoTopUp } from './auto-top-up-queries.ts';
import { type ChangeSeatsDeps, changeSeats } from './change-seats.ts';
import { confirmCheckout } from './confirm-checkout.ts';
import { createSubscriptionCheckout, createTopUpCheckout } from './create-checkout.ts';
import { type RefundDeps, refundTopUp } from './refund-top-up.ts';
import {
  createPortal,
  hasPaymentMethod,
  listInvoices,
  type PortalOrder,
  type StripeDeps,
  withCustomer,
} from './stripe/index.ts';
import { checkPayable } from './stripe/minor-units.ts';

/**
 * Replaces the settings of automatic top-ups. Throws `payment_method_missing` if they are turned on without a saved
 * payment method, and 422 for an amount that Stripe does not charge.
 */
const changeAutoTopUp = async (
  deps: StripeDeps & { readonly currency: string },
  { userId, locale, act }: { readonly userId: string; readonly locale?: Locale | undefined; readonly act: Act },
  settings: AutoTopUp,
): Promise<AutoTopUp> => {
  checkPayable(deps.currency, settings.amount_micros);
  if (settings.enabled && !(await hasPaymentMethod(deps, userId))) throw new AppError('payment_method_missing');
  if (settings.enabled && locale !== undefined) {
    await withCustomer(deps, { userId, locale }, async () => undefined);
  }
  await deps.database.transaction(async (trx) => {
    await upsertAutoTopUp(trx, userId, settings);
    await recordAct(trx, act, { type: 'auto_top_up', id: null, name: null });
  });
  return settings;
};

/** Opens Stripe's portal. Throws `billing_account_missing` if the account has never bought anything. */
const openPortal = async (
  deps: StripeDeps,
  { act, ...order }: PortalOrder & { readonly act: Act },
): Promise<{ url: string }> => {
  if (!(await isCustomer(deps.database, order.userId))) throw new AppError('billing_account_missing');
  const portal = await createPortal(deps, order);
  await deps.database.transaction((trx) => recordAct(trx, act, { type: 'portal', id: null, name: null }));
  return portal;
};

/** Settings of an account that never set any. */
const AUTO_TOP_UP_DEFAULTS: AutoTopUp = {
  enabled: false,
  below_micros: 5 * MICROS_PER_UNIT,
  amount_micros: 20 * MICROS_PER_UNIT,
  monthly_max_micros: 100 * MICROS_PER_UNIT,
};

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
