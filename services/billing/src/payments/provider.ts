import type { AutoTopUpFailure, ConfiguredPlan, Invoice, Locale } from '@svc/contracts';
import type { ProviderName, ProviderSubscription } from '../subscriptions/index.ts';

export type Purchase =
  | { readonly kind: 'subscription'; readonly plan: ConfiguredPlan }
  | { readonly kind: 'top_up'; readonly amountMicros: number; readonly currency: string };

/** Order of a hosted checkout. `sessionId` is billing's id and the idempotency key. */
export interface CheckoutOrder {
  readonly sessionId: string;
  readonly userId: string;
  readonly purchase: Purchase;
  /** Price at the start of the checkout. */
  readonly asked: Payment;
  /** Includes the session id in its query. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly locale: Locale | undefined;
  readonly expiresAt: Date;
}

export interface HostedCheckout {
  readonly providerSessionId: string;
  readonly url: string;
}

/** A sum of money. */
export interface Payment {
  readonly amountMicros: number;
  /** ISO 4217 code in upper case. */
  readonly currency: string;
}

/** Progress of a hosted checkout as the provider reports it. */
export type CheckoutState =
  | { readonly status: 'open' | 'expired' }
  | {
      readonly status: 'complete';
      /** Null if the provider reports no amount. */
      readonly paid: Payment | null;
      /** Discount of promotion codes; 0 without any. */
      readonly discountMicros: number;
      readonly subscription: ProviderSubscription | null;
    };

/** A charge of the saved payment method, without the customer. `chargeId` is the idempotency key. */
export interface SavedCharge extends Payment {
  readonly chargeId: string;
  readonly userId: string;
  readonly startedAt: Date;
}

/** Reason of a failed charge. */
export type ChargeFailure = AutoTopUpFailure['reason'];

/** Progress of a charge. A failed one stays failed: it cannot be paid later. */
export type ChargeState =
  | { readonly status: 'open' }
  | { readonly status: 'failed'; readonly reason: ChargeFailure }
  | {
      readonly status: 'complete';
      /** Id of the payment at the provider. */
      readonly providerSessionId: string;
      readonly paid: Payment | null;
      readonly subscription: null;
    };

/** An invoice of the provider. Net and tax add up to the total. */
export interface ProviderInvoice {
  readonly id: string;
  readonly number: string;
  readonly description: string;
  readonly netMicros: number;
  readonly taxMicros: number;
  readonly totalMicros: number;
  readonly currency: string;
  readonly status: Invoice['status'];
  readonly issuedAt: Date;
  readonly url: string | null;
  readonly pdfUrl: string | null;
}

/** Order of the provider's portal. */
export interface PortalOrder {
  readonly userId: string;
  readonly returnUrl: string;
  readonly locale: Locale | undefined;
}

/** A page of an account's invoices to list. `after` is the last id of the previous page. */
export interface InvoicePage {
  readonly userId: string;
  readonly after: string | undefined;
  readonly limit: number;
  readonly locale: Locale | undefined;
}

export interface InvoicesPage {
  readonly data: readonly ProviderInvoice[];
  readonly hasMore: boolean;
}

/** A subscription as reported by the provider, with the id of the checkout session that started it, if known. */
export interface HostedSubscription extends ProviderSubscription {
  readonly sessionId: string | null;
}

/** A partial or full refund of one payment. */
export interface ProviderRefund {
  readonly providerSessionId: string;
  readonly refundId: string;
  readonly amountMicros: number;
}

/** Limits of the amounts that a provider accepts: a minimum, and multiples of a step. */
export interface Payable {
  readonly minMicros: number;
  readonly stepMicros: number;
}

/**
 * A payment provider. Billing treats every message from a provider as a hint and then fetches the latest state. Every
 * method is idempotent and may throw AppError `payment_provider_unavailable`.
 */
export interface PaymentProvider {
  readonly name: ProviderName;
  readonly topUps: Payable;
  readonly createCheckout: (order: CheckoutOrder) => Promise<HostedCheckout>;
  /** Returns undefined if the provider does not know the session. */
  readonly readCheckout: (providerSessionId: string) => Promise<CheckoutState | undefined>;
  /** Returns undefined if the subscription belongs to no account of this deployment. */
  readonly readSubscription: (providerSubscriptionId: string) => Promise<HostedSubscription | undefined>;
  /** Cancels a subscription immediately and refunds its payment. Used for the second of two purchases. */
  readonly revertSubscription: (providerSubscriptionId: string) => Promise<void>;
  /** Ends a subscription with its paid period, or resumes one that would end then. Does nothing if it has ended. */
  readonly setCancelAtPeriodEnd: (providerSubscriptionId: string, isCancelled: boolean) => Promise<void>;
  /** Ends a subscription immediately, without a refund. */
  readonly endSubscription: (providerSubscriptionId: string) => Promise<void>;
  /** Erases what the provider and this service hold to charge a customer. Payments stay. */
  readonly forgetCustomer: (userId: string) => Promise<void>;
  /** Refunds once per refund id. `refused` is final. */
  readonly refundPayment: (refund: ProviderRefund) => Promise<'refunded' | 'refused'>;
  /** Returns true if the customer has a payment method that can be charged without them. */
  readonly hasPaymentMethod: (userId: string) => Promise<boolean>;
  /** Writes later invoices and mails for charges without the customer in this language. */
  readonly preferLocale: (userId: string, locale: Locale) => Promise<void>;
  /** Charges the saved payment method once per charge id, and returns the state of that one charge. */
  readonly chargeSaved: (charge: SavedCharge) => Promise<ChargeState>;
  /** Writes the invoice of a completed charge, once. Hosted checkouts and subscriptions write theirs themselves. */
  readonly invoiceCharge: (charge: SavedCharge & { readonly providerSessionId: string }) => Promise<void>;
  /** Lists the invoices of an account, newest first. */
  readonly listInvoices: (page: InvoicePage) => Promise<InvoicesPage>;
  readonly createPortal: (portal: PortalOrder) => Promise<{ readonly url: string }>;
}
