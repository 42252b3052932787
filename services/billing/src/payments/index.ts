export type { CheckoutDeps } from './create-checkout.ts';
export type { CheckoutOrder, CheckoutState, PaymentProvider, Purchase } from './provider.ts';
export { findCheckoutSession, updateProviderSession } from './queries.ts';
export { refreshSubscription } from './refresh-subscription.ts';
export { paymentRoutes } from './routes.ts';
export { type SettleCheckoutDeps, type SettledCheckout, settleCheckout } from './settle-checkout.ts';
