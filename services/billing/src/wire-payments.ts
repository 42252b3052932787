import type { PaymentParts, Payments } from './payment-parts.ts';
import { countMismatchedSessions, createPaymentMeters } from './payments/index.ts';

/** Wires the configured payment provider. The code of the other one is not loaded. */
export const wirePayments = async (parts: PaymentParts): Promise<Payments> => {
  const payments = await wireProvider(parts);
  const meters = createPaymentMeters(parts.metrics);
  return {
    ...payments,
    async tick() {
      // First, because an outage of the provider fails the rest.
      meters.mismatched(await countMismatchedSessions(parts.database));
      await payments.tick();
    },
  };
};

const wireProvider = async (parts: PaymentParts): Promise<Payments> => {
  if (parts.config.PAYMENTS === 'stripe') return (await import('./wire-stripe.ts')).wireStripe(parts);
  return (await import('./wire-sandbox.ts')).wireSandbox(parts);
};
