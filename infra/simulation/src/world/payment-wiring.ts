import { applyEndings } from '@svc/billing/src/endings/index.ts';
import type { CheckoutDeps, SettleCheckoutDeps } from '@svc/billing/src/payments/index.ts';
import {
  findCheckoutSession,
  finishRefunds,
  invoiceCharges,
  paymentInternalRoutes,
  paymentRoutes,
  refreshSubscription,
  runAutoTopUps,
  settleCheckout,
  updateProviderSession,
} from '@svc/billing/src/payments/index.ts';
import {
  createEventSweep,
  createStripeProvider,
  reconcileWithStripe,
  refreshReversals,
  type StripeListener,
} from '@svc/billing/src/payments/stripe/index.ts';
import { listSilentSubscriptions } from '@svc/billing/src/subscriptions/index.ts';
import { type Binding, systemClock } from '@svc/service-kit';
import type { PaymentService } from './payment-service.ts';
import { connectionFailure, createStripeClient } from './stripe-client.ts';
import type { Surroundings } from './surroundings.ts';

const PROVIDER_TIMEOUT_MS = 10_000;
const SILENT_MAX = 50;

export interface WiredPayments {
  readonly bindings: readonly Binding[];
  readonly listener: StripeListener;
  readonly tick: () => Promise<void>;
  readonly topUp: () => Promise<void>;
  readonly reconcile: (since: Date) => Promise<number>;
}

/** Wires billing's payments as `wire-stripe.ts` does, with a client whose calls pass the simulated network. */
export const wirePaymentService = (
  parts: Omit<CheckoutDeps & SettleCheckoutDeps, 'provider'>,
  {
    name,
    provider: service,
    surroundings,
  }: { readonly name: string; readonly provider: PaymentService; readonly surroundings: Surroundings },
): WiredPayments => {
  const { database, logger } = parts;
  const stripe = createStripeClient(service, async (work) => {
    const { network } = surroundings;
    const call = network.call({ from: name, to: 'payments', timeoutMs: PROVIDER_TIMEOUT_MS }, async () => work());
    return await call.catch((error: unknown) => {
      throw error instanceof Error && error.name === 'NetworkFailure' ? connectionFailure() : error;
    });
  });
  const deps = { ...parts, provider: createStripeProvider({ database, stripe }) };
  const listener: StripeListener = {
    async checkoutChanged({ sessionId, providerSessionId }) {
      if (sessionId === null) return;
      await updateProviderSession(database, sessionId, providerSessionId);
      const session = await findCheckoutSession(database, sessionId);
      if (session?.providerSessionId === providerSessionId) await settleCheckout(deps, session);
    },
    subscriptionChanged: (id) => refreshSubscription(deps, id),
    paymentReversed: (id) => refreshReversals({ ...deps, stripe }, id),
  };
  const sweep = createEventSweep({ stripe, listener, logger, clock: systemClock });
  return {
    bindings: [
      ...paymentRoutes({ ...deps, stepUp: { maxAgeSeconds: 900, clock: systemClock } }),
      ...paymentInternalRoutes(deps),
    ],
    listener,
    topUp: () => runAutoTopUps(deps),
    reconcile: (since) => reconcileWithStripe({ ...deps, stripe, listener }, since),
    async tick() {
      await sweep.run();
      for (const id of await listSilentSubscriptions(database, 'stripe', SILENT_MAX))
        await refreshSubscription(deps, id);
      await finishRefunds(deps);
      await invoiceCharges(deps);
      await applyEndings(deps);
    },
  };
};
