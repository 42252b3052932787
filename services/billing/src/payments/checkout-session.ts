import type { Payment } from './stripe/index.ts';

/** A purchase, stored from the start of its checkout. */
export interface CheckoutSession {
  readonly id: string;
  readonly userId: string;
  readonly kind: 'subscription' | 'top_up' | 'seats';
  readonly planId: string | null;
  /** Number of seats; null for other purchases. */
  readonly quantity: number | null;
  readonly amountMicros: number | null;
  /** Price at the start of the checkout. */
  readonly asked: Payment;
  readonly providerSessionId: string | null;
  /** True for a charge of the saved payment method, which has no hosted page. */
  readonly isAutomatic: boolean;
  /**
   * `expired`: ended without a payment, as an automatic charge that failed. `void`: paid while another subscription was live, and therefore refunded. `mismatched`: the payment differs from
   * the price, and therefore had no effect.
   */
  readonly status: 'open' | 'complete' | 'expired' | 'void' | 'mismatched';
  readonly subscriptionId: string | null;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

/** Appends the session id to the query of a return URL. Every other byte stays the same. */
export const withSessionId = (returnUrl: string, sessionId: string): string => {
  const [base = '', ...fragment] = returnUrl.split('#');
  const separator = base.includes('?') ? (/[?&]$/.test(base) ? '' : '&') : '?';
  return [`${base}${separator}session_id=${encodeURIComponent(sessionId)}`, ...fragment].join('#');
};
