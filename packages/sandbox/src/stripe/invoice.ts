import { toPayable } from '@svc/contracts';

/** An invoice as the pages show it. The price includes the tax. */
export interface HostedInvoice {
  readonly id: string;
  /** Consecutive within its year. */
  readonly number: string;
  readonly customer: string;
  readonly kind: 'subscription' | 'top_up' | 'automatic_top_up';
  /** Null for a top-up. */
  readonly planName: string | null;
  /** Paid period of a subscription; null for a top-up. */
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  readonly totalMicros: number;
  readonly taxMicros: number;
  readonly taxPercent: number;
  readonly currency: string;
  readonly status: 'open' | 'paid' | 'void' | 'uncollectible';
  readonly issuedAt: Date;
  readonly businessName: string | null;
  readonly vatNumber: string | null;
}

/** Business details of a customer; null where they gave none. */
export interface BusinessDetails {
  readonly businessName: string | null;
  readonly vatNumber: string | null;
}

/** Italian standard rate. */
const VAT_PERCENT = 22;

/**
 * Returns the tax that a price includes. A business in another country owes the tax itself, so it pays the price without
 * any (reverse charge, article 196 of Directive 2006/112/EC).
 */
export const taxOf = (
  { totalMicros, currency }: Pick<HostedInvoice, 'totalMicros' | 'currency'>,
  vatNumber: string | null,
): Pick<HostedInvoice, 'taxMicros' | 'taxPercent'> => {
  if (vatNumber !== null && !vatNumber.startsWith('IT')) return { taxMicros: 0, taxPercent: 0 };
  const taxMicros = toPayable((totalMicros * VAT_PERCENT) / (100 + VAT_PERCENT), currency);
  return { taxMicros, taxPercent: VAT_PERCENT };
};
