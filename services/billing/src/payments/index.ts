export type { CheckoutDeps } from './create-checkout.ts';
export { createPaymentMeters } from './meters.ts';
export type {
  CheckoutOrder,
  CheckoutState,
  HostedSubscription,
  Payment,
  PaymentProvider,
  ProviderRefund,
  Purchase,
} from './provider.ts';
export {
  countMismatchedSessions,
  findCheckoutSession,
  insertCheckoutSession,
  updateProviderSession,
} from './queries.ts';
export { refreshSubscription } from './refresh-subscription.ts';
export { finishRefunds } from './refund-top-up.ts';
export { paymentInternalRoutes, paymentRoutes } from './routes.ts';
export { type SettleCheckoutDeps, type SettledCheckout, settleCheckout } from './settle-checkout.ts';
