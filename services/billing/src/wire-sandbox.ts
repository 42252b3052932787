import { newId } from '@svc/contracts';
import { createSandboxPaymentProvider, runSandboxPayments, sandboxPaymentRoutes } from '@svc/sandbox-payments';
import { applyEndings } from './endings/index.ts';
import { checkoutDeps, type PaymentParts, type Payments } from './payment-parts.ts';
import {
  findCheckoutSession,
  finishRefunds,
  invoiceCharges,
  paymentInternalRoutes,
  paymentRoutes,
  refreshSubscription,
  runAutoTopUps,
  settleCheckout,
} from './payments/index.ts';
import { findSubscriptionById } from './subscriptions/index.ts';

/** Wires the sandbox payment provider, which runs inside this service. */
export const wireSandbox = (parts: PaymentParts): Payments => {
  const { config, database, offer } = parts;
  const publicBaseUrl = config.PUBLIC_BASE_URL;
  const deps = checkoutDeps(parts, createSandboxPaymentProvider({ database, publicBaseUrl, newId }));
  const sandbox = {
    database,
    newId,
    offer,
    listener: {
      async sessionPaid(sessionId: string) {
        const session = await findCheckoutSession(database, sessionId);
        return session !== undefined && (await settleCheckout(deps, session)) === 'reverted';
      },
      subscriptionChanged: (id: string) => refreshSubscription(deps, id),
    },
    findProviderId: async (id: string) => (await findSubscriptionById(database, id))?.providerSubscriptionId,
  };
  return {
    bindings: [...paymentRoutes(deps), ...sandboxPaymentRoutes(sandbox)],
    internalBindings: paymentInternalRoutes(deps),
    // The sandbox's tables were restored together with those of billing.
    reconcile: async () => 0,
    topUp: () => runAutoTopUps(deps),
    tickIntervalMs: config.SWEEP_INTERVAL_MS,
    async tick() {
      await finishRefunds(deps);
      await invoiceCharges(deps);
      await applyEndings(deps);
      await runSandboxPayments(sandbox);
    },
  };
};
