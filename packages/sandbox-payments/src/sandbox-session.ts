/** A hosted checkout as the sandbox stores it. */
export interface SandboxSession {
  readonly id: string;
  readonly customer: string;
  readonly description: string;
  readonly planId: string | null;
  readonly interval: 'month' | 'year' | null;
  readonly amountMicros: number;
  readonly currency: string;
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
export type NewSession = Omit<SandboxSession, 'status' | 'subscriptionId' | 'isChallenged' | 'failure'>;

/** A visit to the hosted portal. */
export interface SandboxPortal {
  readonly id: string;
  readonly customer: string;
  readonly returnUrl: string;
  readonly isChallenged: boolean;
}
