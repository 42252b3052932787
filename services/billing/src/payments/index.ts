export type { CheckoutDeps } from './create-checkout.ts';
export type { CheckoutOrder, CheckoutState, PaymentProvider, ProviderRefund, Purchase } from './provider.ts';
export { findCheckoutSession, updateProviderSession } from './queries.ts';
export { refreshSubscription } from './refresh-subscription.ts';
export { finishRefunds } from './refund-top-up.ts';
export { paymentInternalRoutes, paymentRoutes } from './routes.ts';
export { type SettleCheckoutDeps, type SettledCheckout, settleCheckout } from './settle-checkout.ts';
