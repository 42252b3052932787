import type { ConfiguredPlan } from '@svc/contracts';
import type { ProviderName, ProviderSubscription } from '../subscriptions/index.ts';

/** The goods of a checkout. */
export type Purchase =
  | { readonly kind: 'subscription'; readonly plan: ConfiguredPlan }
  | { readonly kind: 'top_up'; readonly amountMicros: number; readonly currency: string };

/** A checkout that a provider is asked to host. `sessionId` is billing's id and the idempotency key. */
export interface CheckoutOrder {
  readonly sessionId: string;
  readonly userId: string;
  readonly purchase: Purchase;
  /** The price at the start of the checkout. */
  readonly asked: Payment;
  /** Already carries the session id in its query. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
}

/** A checkout hosted by a provider. */
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
      readonly subscription: ProviderSubscription | null;
    };

/** A subscription as the provider reports it, with the id of the checkout session that started it, if known. */
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
 * A payment provider. Billing treats every message from a provider as a hint and asks for the latest state. Every method
 * is safe to repeat and may throw AppError `payment_provider_unavailable`.
 */
export interface PaymentProvider {
  readonly name: ProviderName;
  readonly topUps: Payable;
  createCheckout(order: CheckoutOrder): Promise<HostedCheckout>;
  /** Returns undefined for a session that the provider does not know. */
  readCheckout(providerSessionId: string): Promise<CheckoutState | undefined>;
  /** Returns undefined for a subscription that belongs to no account here. */
  readSubscription(providerSubscriptionId: string): Promise<HostedSubscription | undefined>;
  /** Cancels a subscription at once and refunds its payment. Used for the second of two purchases. */
  revertSubscription(providerSubscriptionId: string): Promise<void>;
  /** Refunds once per refund id. `refused` is final. */
  refundPayment(refund: ProviderRefund): Promise<'refunded' | 'refused'>;
  createPortal(portal: { readonly userId: string; readonly returnUrl: string }): Promise<{ readonly url: string }>;
}
