/** A hosted checkout as its page shows it. */
export interface HostedSession {
  readonly id: string;
  readonly customer: string;
  readonly description: string;
  readonly planId: string | null;
  readonly interval: 'month' | 'year' | null;
  /** Price without the discount. */
  readonly amountMicros: number;
  readonly currency: string;
  readonly promotionCode: string | null;
  /** Discount of the promotion code; 0 without one. */
  readonly discountMicros: number;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: Date;
  readonly status: 'open' | 'complete' | 'expired';
  readonly subscriptionId: string | null;
  /** The bank waits for its customer to confirm the payment. */
  readonly isChallenged: boolean;
  /** Reason why the last attempt at a payment failed. */
  readonly failure: PaymentFailure | null;
}

export type PaymentFailure = 'declined' | 'not_confirmed';

/** Returns what a checkout costs today. */
export const dueToday = ({ amountMicros, discountMicros }: HostedSession): number => amountMicros - discountMicros;

/** A visit to the hosted portal. */
export interface HostedPortal {
  readonly id: string;
  readonly customer: string;
  readonly returnUrl: string;
  readonly isChallenged: boolean;
}
