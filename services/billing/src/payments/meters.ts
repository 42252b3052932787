import type { Metrics } from '@svc/service-kit';

/** Metrics of payments. */
export interface PaymentMeters {
  readonly mismatched: (count: number) => void;
}

export const createPaymentMeters = (metrics: Metrics): PaymentMeters => {
  const mismatched = metrics.gauge({
    name: 'billing_mismatched_payments',
    help: 'Paid checkouts of the last 24 hours whose amount or currency differs from the price.',
  });
  return { mismatched: (count) => mismatched.set(count) };
};
