export { deleteAutoTopUp, disableAutoTopUp, finishRestore } from './auto-top-up-queries.ts';
export { finishSeatChanges } from './change-seats.ts';
export { countMismatchedSessions, createPaymentMeters, type PaymentMeters } from './checkout-sessions.ts';
export { settleOldCheckouts } from './confirm-checkout.ts';
export type { CheckoutDeps } from './create-checkout.ts';
export { createStripeListener } from './events/listener.ts';
export { eventRoutes } from './events/receive-event.ts';
export { createEventSweep, type EventSweep } from './events/sweep-events.ts';
export { refreshStoredSubscription, refreshSubscription } from './refresh-subscription.ts';
export { finishRefunds } from './refund-top-up.ts';
export { previewReconcile, type Reconciled, reconcileWithStripe } from './restores.ts';
export { paymentInternalRoutes, paymentRoutes } from './routes.ts';
export { type AutoTopUpDeps, finishCharges, invoiceCharges, runAutoTopUps } from './run-auto-top-ups.ts';
export type { SettleCheckoutDeps } from './settle-checkout.ts';
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
