import type { ProviderName } from '../subscriptions/index.ts';
import type { Payment } from './provider.ts';

/** A purchase from the start of its checkout. */
export interface CheckoutSession {
  readonly id: string;
  readonly userId: string;
  readonly kind: 'subscription' | 'top_up';
  readonly planId: string | null;
  readonly amountMicros: number | null;
  /** The price at the start of the checkout. Null in sessions that the previous release started. */
  readonly asked: Payment | null;
  readonly provider: ProviderName;
  readonly providerSessionId: string | null;
  /**
   * `void`: paid while another subscription was live, so the provider refunded it. `mismatched`: the payment differs from
   * what was asked, so it had no effect.
   */
  readonly status: 'open' | 'complete' | 'expired' | 'void' | 'mismatched';
  readonly subscriptionId: string | null;
  readonly expiresAt: Date;
}

/** Appends the session id to a return URL and keeps every other byte. */
export const withSessionId = (returnUrl: string, sessionId: string): string => {
  const [base = '', ...fragment] = returnUrl.split('#');
  const separator = base.includes('?') ? (/[?&]$/.test(base) ? '' : '&') : '?';
  return [`${base}${separator}session_id=${encodeURIComponent(sessionId)}`, ...fragment].join('#');
};
