import { newId, routes, sandboxRoutes } from '@svc/contracts';
import { AppError, type Binding, bind, requireRecentAuthentication } from '@svc/service-kit';
import { organizationOf } from './organization-state.ts';
import {
  type Checkout,
  daysFromNow,
  type MockState,
  PLANS,
  PRICES,
  possessionsOf,
  STEP_UP,
  subscriptionTo,
} from './state.ts';

/** The routes of the billing service that the pages call. */
export const billingBindings = (state: MockState): Binding[] => [
  ...subscriptionBindings(state),
  ...checkoutBindings(state),
  ...sandboxBindings(state),
  ...walletBindings(state),
  ...settingBindings(state),
];

const NO_EXTRA_USE = () => ({ used_micros: 0, resets_at: daysFromNow(20) });
const NO_USE = { requests: 0, cost_micros: 0 };

const window = (percent: number, limit: number, days: number) => ({
  used_percent: percent,
  used_micros: Math.floor((limit * percent) / 100),
  limit_micros: limit,
  resets_at: daysFromNow(days),
});

const subscriptionBindings = (state: MockState): Binding[] => [
  bind(routes.listPlans, async () => ({ status: 200, body: { data: PLANS } })),
  bind(routes.listPrices, async () => ({ status: 200, body: PRICES })),
  bind(routes.getSubscription, async ({ caller }) => ({
    status: 200,
    body: { subscription: possessionsOf(state, caller.userId).subscription },
  })),
  bind(routes.getSubscriptionUsage, async ({ caller }) => {
    const { subscription } = possessionsOf(state, caller.userId);
    const plan = PLANS.find(({ id }) => id === subscription?.plan.id);
    return {
      status: 200,
      body: {
        status: subscription?.status ?? null,
        plan: subscription?.plan ?? null,
        period:
          subscription === null
            ? null
            : { start: subscription.current_period_start, end: subscription.current_period_end },
        weekly: plan === undefined ? null : window(37, plan.weekly_limit_micros, 3),
        monthly: plan === undefined ? null : window(84, plan.monthly_limit_micros, 20),
        pending_requests: 1,
        max_pending_requests: 2,
        services: plan?.services ?? { chat: false, audio_transcription: false },
      },
    };
  }),
  bind(routes.getUsageHistory, async ({ caller, query }) => {
    const { planUse } = possessionsOf(state, caller.userId);
    const data = Array.from({ length: query.days }, (_, index) => {
      const daysAgo = query.days - 1 - index;
      const use = planUse.get(daysAgo) ?? { services: { chat: NO_USE, audio_transcription: NO_USE }, apps: [] };
      const { chat, audio_transcription: audio } = use.services;
      return {
        ...use,
        day: daysFromNow(-daysAgo).slice(0, 10),
        requests: chat.requests + audio.requests,
        cost_micros: chat.cost_micros + audio.cost_micros,
      };
    });
    return { status: 200, body: { data } };
  }),
  bind(routes.createPortalSession, async ({ body }) => ({
    status: 200,
    body: { url: `${body.return_url}?from=portal` },
  })),
];

export const openCheckout = (state: MockState, checkout: Omit<Checkout, 'isPaid'>, origin: string) => {
  const id = newId('cs');
  state.checkouts.set(id, { ...checkout, isPaid: false });
  return { session_id: id, url: `${origin}/sandbox/payments/sessions/${id}`, expires_at: daysFromNow(1) };
};

const checkoutBindings = (state: MockState): Binding[] => [
  bind(routes.createCheckout, async ({ body, caller }) => {
    const { subscription } = possessionsOf(state, caller.userId);
    if (subscription?.status === 'active') throw new AppError('subscription_already_active');
    const { plan_id: planId, success_url: successUrl, cancel_url: cancelUrl } = body;
    const checkout = { userId: caller.userId, planId, amountMicros: undefined, successUrl, cancelUrl };
    return { status: 200, body: openCheckout(state, checkout, new URL(successUrl).origin) };
  }),
  bind(routes.createTopUp, async ({ body, caller }) => {
    const { amount_micros: amountMicros, success_url: successUrl, cancel_url: cancelUrl } = body;
    const checkout = { userId: caller.userId, planId: undefined, amountMicros, successUrl, cancelUrl };
    const { session_id, url } = openCheckout(state, checkout, new URL(successUrl).origin);
    return { status: 200, body: { session_id, url } };
  }),
  bind(routes.confirmCheckout, async ({ body, caller }) => {
    const checkout = state.checkouts.get(body.session_id);
    if (checkout === undefined || checkout.userId !== caller.userId) throw new AppError('not_found');
    if (!checkout.isPaid) throw new AppError('checkout_not_completed');
    const { subscription, balanceMicros } = possessionsOf(state, caller.userId);
    const wallet = { balance_micros: balanceMicros, held_micros: 0, currency: 'EUR' };
    return { status: 200, body: checkout.planId === undefined ? { subscription: null, wallet } : { subscription } };
  }),
];

const sandboxBindings = (state: MockState): Binding[] => [
  bind(sandboxRoutes.showSandboxCheckout, async ({ params }) => ({
    status: 200,
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': "default-src 'none'; form-action 'self'" },
    body: `<!doctype html><title>Checkout</title><h1>Checkout</h1>
      <form method="post" action="/sandbox/payments/sessions/${params.session_id}/submit">
      <button name="action" value="pay">Pay</button><button name="action" value="cancel">Cancel</button></form>`,
  })),
  bind(sandboxRoutes.submitSandboxCheckout, async ({ params, body }) => {
    const checkout = state.checkouts.get(params.session_id);
    if (checkout === undefined) throw new AppError('not_found');
    if (body.action !== 'pay') return { status: 303, headers: { location: checkout.cancelUrl } };
    pay(state, checkout);
    return { status: 303, headers: { location: `${checkout.successUrl}?session_id=${params.session_id}` } };
  }),
];

const pay = (state: MockState, checkout: Checkout): void => {
  if (checkout.isPaid) return;
  checkout.isPaid = true;
  const owned = possessionsOf(state, checkout.userId);
  if (checkout.seats !== undefined && checkout.planId !== undefined) {
    organizationOf(state, checkout.userId).seats.set(checkout.planId, checkout.seats);
    return;
  }
  if (checkout.planId !== undefined) owned.subscription = subscriptionTo(checkout.planId);
  owned.balanceMicros += checkout.amountMicros ?? 0;
};

const walletBindings = (state: MockState): Binding[] => [
  bind(routes.getWallet, async ({ caller }) => {
    const { balanceMicros } = possessionsOf(state, caller.userId);
    return { status: 200, body: { balance_micros: balanceMicros, held_micros: 12_500, currency: 'EUR' } };
  }),
  bind(routes.listWalletTransactions, async ({ caller }) => ({
    status: 200,
    body: { data: possessionsOf(state, caller.userId).transactions, has_more: false },
  })),
];

const settingBindings = (state: MockState): Binding[] => [
  bind(routes.getAlertSettings, async ({ caller }) => ({
    status: 200,
    body: possessionsOf(state, caller.userId).alerts,
  })),
  bind(routes.changeAlertSettings, async ({ caller, body }) => {
    possessionsOf(state, caller.userId).alerts = body;
    return { status: 200, body };
  }),
  bind(routes.getExtraUsage, async ({ caller }) => ({
    status: 200,
    body: { ...possessionsOf(state, caller.userId).extraUsage, ...NO_EXTRA_USE() },
  })),
  bind(routes.changeExtraUsage, async ({ caller, body }) => {
    possessionsOf(state, caller.userId).extraUsage = body;
    return { status: 200, body: { ...body, ...NO_EXTRA_USE() } };
  }),
  bind(routes.getAutoTopUp, async ({ caller }) => ({
    status: 200,
    body: possessionsOf(state, caller.userId).autoTopUp,
  })),
  bind(routes.changeAutoTopUp, async ({ caller, body }) => {
    const owned = possessionsOf(state, caller.userId);
    if (body.enabled) requireRecentAuthentication(caller, STEP_UP);
    if (body.enabled && !owned.hasPaymentMethod) throw new AppError('payment_method_missing');
    owned.autoTopUp = body;
    return { status: 200, body };
  }),
  bind(routes.listInvoices, async ({ caller, query }) => {
    const { invoices } = possessionsOf(state, caller.userId);
    const start = query.after === undefined ? 0 : invoices.findIndex(({ id }) => id === query.after) + 1;
    const data = invoices.slice(start, start + query.limit);
    return { status: 200, body: { data, has_more: start + data.length < invoices.length } };
  }),
];
