/** A hosted checkout as the sandbox stores it. */
export interface SandboxSession {
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

/** A checkout at its start. */
export type NewSession = Omit<
  SandboxSession,
  'promotionCode' | 'discountMicros' | 'status' | 'subscriptionId' | 'isChallenged' | 'failure'
>;

/** Returns what a checkout costs today. */
export const dueToday = ({ amountMicros, discountMicros }: SandboxSession): number => amountMicros - discountMicros;

/** A visit to the hosted portal. */
export interface SandboxPortal {
  readonly id: string;
  readonly customer: string;
  readonly returnUrl: string;
  readonly isChallenged: boolean;
}
