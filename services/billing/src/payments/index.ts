export { applyReversals, type ReportedReversal } from './apply-reversals.ts';
export { deleteAutoTopUp, disableAutoTopUp } from './auto-top-up-queries.ts';
export type { CheckoutDeps } from './create-checkout.ts';
export { invoiceCharges } from './invoice-charges.ts';
export { createPaymentMeters } from './meters.ts';
export type {
  ChargeFailure,
  ChargeState,
  CheckoutOrder,
  CheckoutState,
  HostedSubscription,
  InvoicePage,
  InvoicesPage,
  Payment,
  PaymentProvider,
  ProviderInvoice,
  ProviderRefund,
  Purchase,
  SavedCharge,
} from './provider.ts';
export {
  countMismatchedSessions,
  findCheckoutByProvider,
  findCheckoutSession,
  insertCheckoutSession,
  updateProviderSession,
} from './queries.ts';
export { refreshSubscription } from './refresh-subscription.ts';
export { finishRefunds } from './refund-top-up.ts';
export { paymentInternalRoutes, paymentRoutes } from './routes.ts';
export { runAutoTopUps } from './run-auto-top-ups.ts';
export { type SettleCheckoutDeps, type SettledCheckout, settleCheckout } from './settle-checkout.ts';
