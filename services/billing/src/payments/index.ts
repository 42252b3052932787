export { deleteAutoTopUp, disableAutoTopUp } from './auto-top-up-queries.ts';
export type { CheckoutDeps } from './create-checkout.ts';
export { createPaymentMeters } from './meters.ts';
export type {
  ChargeFailure,
  ChargeState,
  CheckoutOrder,
  CheckoutState,
  HostedSubscription,
  Payment,
  PaymentProvider,
  ProviderRefund,
  Purchase,
  SavedCharge,
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
export { runAutoTopUps } from './run-auto-top-ups.ts';
export { type SettleCheckoutDeps, type SettledCheckout, settleCheckout } from './settle-checkout.ts';
