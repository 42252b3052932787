export {
  CHARGE_KEY,
  type ChargeFailure,
  type ChargeState,
  CLOCK_SKEW_SECONDS,
  chargeSaved,
  findCharge,
  hasPaymentMethod,
  PAYMENTS_MAX,
  type SavedCharge,
  secondsBefore,
} from './charges.ts';
export {
  type CheckoutOrder,
  type CheckoutState,
  createCheckout,
  createPortal,
  type PortalOrder,
  type Purchase,
  readCheckout,
} from './checkouts.ts';
export { withCustomer } from './customers.ts';
export { type WithheldRequest, withoutWrites } from './dry-run.ts';
export { idOf } from './id-of.ts';
export { invoiceCharge, listInvoices } from './invoices.ts';
export { type Payment, requireMinorUnit, toPayment } from './minor-units.ts';
export { createProviderMeters, type ProviderMeters } from './provider-meters.ts';
export { findCustomerId, insertCustomer } from './queries.ts';
export { REFUND_KEY, refundPayment, revertSubscription } from './refunds.ts';
export { endSubscription, forgetCustomer, setCancelAtPeriodEnd, setQuantity } from './seat-quantity.ts';
export {
  askForOne,
  askStripe,
  createStripeClient,
  type StripeDeps,
  type StripeSettings,
  type StripeTransport,
} from './stripe-client.ts';
export { type HostedSubscription, readSubscription } from './subscription-state.ts';
