export { deleteAutoTopUp, disableAutoTopUp, finishRestore } from './auto-top-up-queries.ts';
export { finishSeatChanges } from './change-seats.ts';
export type { CheckoutDeps } from './create-checkout.ts';
export { createEventSweep, createStripeListener, type EventSweep, eventRoutes } from './events/index.ts';
export { invoiceCharges } from './invoice-charges.ts';
export { createPaymentMeters, type PaymentMeters } from './meters.ts';
export { countMismatchedSessions } from './queries.ts';
export { refreshStoredSubscription, refreshSubscription } from './refresh-subscription.ts';
export { finishRefunds } from './refund-top-up.ts';
export { previewReconcile, type Reconciled, reconcileWithStripe } from './restores.ts';
export { paymentInternalRoutes, paymentRoutes } from './routes.ts';
export { type AutoTopUpDeps, finishCharges, runAutoTopUps } from './run-auto-top-ups.ts';
export type { SettleCheckoutDeps } from './settle-checkout.ts';
export { settleOldCheckouts } from './settle-old-checkouts.ts';
export {
  askStripe,
  createProviderMeters,
  createStripeClient,
  endSubscription,
  forgetCustomer,
  type StripeSettings,
  type StripeTransport,
  setCancelAtPeriodEnd,
  withoutWrites,
} from './stripe/index.ts';
