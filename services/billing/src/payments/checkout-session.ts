import type { ProviderName } from '../subscriptions/index.ts';

/** A purchase in the making. */
export interface CheckoutSession {
  readonly id: string;
  readonly userId: string;
  readonly kind: 'subscription' | 'top_up';
  readonly planId: string | null;
  readonly amountMicros: number | null;
  readonly provider: ProviderName;
  readonly providerSessionId: string | null;
  /** `void`: paid when another subscription was live already, and so reverted at the provider. */
  readonly status: 'open' | 'complete' | 'expired' | 'void';
  readonly subscriptionId: string | null;
  readonly expiresAt: Date;
}

/** Appends the session id to a return URL and leaves every other byte of it as it is. */
export const withSessionId = (returnUrl: string, sessionId: string): string => {
  const [base = '', ...fragment] = returnUrl.split('#');
  const separator = base.includes('?') ? (/[?&]$/.test(base) ? '' : '&') : '?';
  return [`${base}${separator}session_id=${encodeURIComponent(sessionId)}`, ...fragment].join('#');
};
