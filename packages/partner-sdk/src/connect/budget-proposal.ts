/** A limit of the app's use of the user's plan, as the app proposes it. The user may change or remove it. */
export interface BudgetProposal {
  /** In millionths of the currency. */
  readonly limitMicros: number;
  readonly currency: string;
  readonly period: 'week' | 'month' | 'total';
  readonly expiresAt?: Date | undefined;
}

/** Returns the proposal as `authorization_details` (RFC 9396 section 2). */
export const toDetails = ({ limitMicros, currency, period, expiresAt }: BudgetProposal): string =>
  JSON.stringify([
    {
      type: 'inference_budget',
      limit_micros: limitMicros,
      currency,
      period,
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
    },
  ]);
