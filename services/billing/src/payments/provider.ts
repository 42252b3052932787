import type { ConfiguredPlan } from '@svc/contracts';
import type { ProviderName, ProviderSubscription } from '../subscriptions/index.ts';

/** What is to be bought. */
export type Purchase =
  | { readonly kind: 'subscription'; readonly plan: ConfiguredPlan }
  | { readonly kind: 'top_up'; readonly amountMicros: number; readonly currency: string };

/** A purchase that a provider is asked to host. `sessionId` is ours, and the idempotency key. */
export interface CheckoutOrder {
  readonly sessionId: string;
  readonly userId: string;
  readonly purchase: Purchase;
  /** With our session id in its query already. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
}

/** A checkout that a provider hosts. */
export interface HostedCheckout {
  readonly providerSessionId: string;
  readonly url: string;
}

/** How far a hosted checkout has come, as the provider says. */
export type CheckoutState =
  | { readonly status: 'open' | 'expired' }
  | { readonly status: 'complete'; readonly subscription: ProviderSubscription | null };

/** A part of a payment that is to be paid back. */
export interface ProviderRefund {
  readonly providerSessionId: string;
  readonly refundId: string;
  readonly amountMicros: number;
}

/** The payments that a provider can take: at least so much, and whole multiples of a step. */
export interface Payable {
  readonly minMicros: number;
  readonly stepMicros: number;
}

/**
 * A payment provider. Billing asks it for the latest state and never believes a message about one. Every method may throw
 * AppError `payment_provider_unavailable`; asking again is safe.
 */
export interface PaymentProvider {
  readonly name: ProviderName;
  readonly topUps: Payable;
  createCheckout(order: CheckoutOrder): Promise<HostedCheckout>;
  /** Undefined where the provider knows no such session. */
  readCheckout(providerSessionId: string): Promise<CheckoutState | undefined>;
  readSubscription(providerSubscriptionId: string): Promise<ProviderSubscription | undefined>;
  /** Ends a subscription at once and gives the money back: the second of two purchases. */
  revertSubscription(providerSubscriptionId: string): Promise<void>;
  /** Pays back a part of a payment, once per refund id. `refused`: the provider will never pay it back. */
  refundPayment(refund: ProviderRefund): Promise<'refunded' | 'refused'>;
  createPortal(portal: { readonly userId: string; readonly returnUrl: string }): Promise<{ readonly url: string }>;
}
