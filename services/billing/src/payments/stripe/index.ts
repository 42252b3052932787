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
export { findCustomerId, insertCustomer, withCustomer } from './customers.ts';
export { invoiceCharge, listInvoices } from './invoices.ts';
export { type Payment, toPayment } from './minor-units.ts';
export { createProviderMeters, type ProviderMeters } from './provider-meters.ts';
export { REFUND_KEY, refundPayment, revertSubscription } from './refunds.ts';
export { endSubscription, forgetCustomer, setCancelAtPeriodEnd, setQuantity } from './seat-quantity.ts';
export {
  askForOne,
  askStripe,
  createStripeClient,
  idOf,
  type StripeDeps,
  type StripeSettings,
  type StripeTransport,
  type WithheldRequest,
  withoutWrites,
} from './stripe-client.ts';
export { type HostedSubscription, readSubscription } from './subscription-state.ts';
