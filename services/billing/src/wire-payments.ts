import { newId } from '@svc/contracts';
import type { Binding } from '@svc/service-kit';
import type { BillingParts } from './app.ts';
import type { BillingConfig } from './config.ts';
import {
  countMismatchedSessions,
  createPaymentMeters,
  findCheckoutSession,
  finishRefunds,
  type PaymentProvider,
  paymentInternalRoutes,
  paymentRoutes,
  refreshSubscription,
  settleCheckout,
  updateProviderSession,
} from './payments/index.ts';
import {
  announceChanges,
  createSandboxProvider,
  renewDue,
  type SandboxDeps,
  sandboxRoutes,
} from './payments/sandbox/index.ts';
import {
  createEventSweep,
  createStripeClient,
  createStripeProvider,
  type StripeListener,
  stripeRoutes,
} from './payments/stripe/index.ts';
import { findSubscriptionById, listSilentSubscriptions } from './subscriptions/index.ts';

const STRIPE_SWEEP_INTERVAL_MS = 60_000;
const SILENT_MAX = 50;

/** The wired payment provider. */
export interface Payments {
  readonly bindings: readonly Binding[];
  readonly internalBindings: readonly Binding[];
  readonly tick: () => Promise<void>;
  readonly tickIntervalMs: number;
}

/** Wires the payment provider that the configuration names; nothing of the other one is there. */
export const wirePayments = (parts: BillingParts): Payments => {
  const payments = parts.config.PAYMENTS === 'stripe' ? wireStripe(parts) : wireSandbox(parts);
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

const checkoutDeps = ({ config, database, offer, relay, logger }: BillingParts, provider: PaymentProvider) => ({
  database,
  provider,
  offer,
  relay,
  logger,
  newId,
  currency: config.BILLING_CURRENCY,
  pastDueGraceDays: config.PAST_DUE_GRACE_DAYS,
});

const wireSandbox = (parts: BillingParts): Payments => {
  const { config, database, offer } = parts;
  const provider = createSandboxProvider({
    database,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    newPortalId: () => newId('cs').replace(/^cs/, 'portal'),
  });
  const deps = checkoutDeps(parts, provider);
  const sandbox: SandboxDeps = {
    database,
    newSubscriptionId: () => `sandbox_${newId('sub')}`,
    listener: {
      async sessionPaid(sessionId) {
        const session = await findCheckoutSession(database, sessionId);
        return session === undefined ? 'open' : settleCheckout(deps, session);
      },
      subscriptionChanged: (id) => refreshSubscription(deps, id),
    },
  };
  const findProviderId = async (id: string) => (await findSubscriptionById(database, id))?.providerSubscriptionId;
  return {
    bindings: [...paymentRoutes(deps), ...sandboxRoutes({ ...sandbox, offer, findProviderId })],
    internalBindings: paymentInternalRoutes(deps),
    tickIntervalMs: config.SWEEP_INTERVAL_MS,
    async tick() {
      await finishRefunds(deps);
      await renewDue(sandbox);
      await announceChanges(sandbox);
    },
  };
};

const wireStripe = (parts: BillingParts): Payments => {
  const { config, database, logger } = parts;
  const stripe = createStripeClient(requireStripe(config));
  const deps = checkoutDeps(parts, createStripeProvider({ database, stripe }));
  const listener: StripeListener = {
    async checkoutChanged({ sessionId, providerSessionId }) {
      if (sessionId === null) return;
      // The event may come before the call that made the session has returned.
      await updateProviderSession(database, sessionId, providerSessionId);
      const session = await findCheckoutSession(database, sessionId);
      if (session?.providerSessionId === providerSessionId) await settleCheckout(deps, session);
    },
    subscriptionChanged: (id) => refreshSubscription(deps, id),
  };
  const sweep = createEventSweep({ stripe, listener, logger, clock: () => new Date() });
  return {
    bindings: [
      ...paymentRoutes(deps),
      ...stripeRoutes({ stripe, listener, secrets: config.STRIPE_WEBHOOK_SECRET ?? [] }),
    ],
    internalBindings: paymentInternalRoutes(deps),
    tickIntervalMs: STRIPE_SWEEP_INTERVAL_MS,
    async tick() {
      await sweep.run();
      for (const id of await listSilentSubscriptions(database, 'stripe', SILENT_MAX)) {
        await refreshSubscription(deps, id);
      }
      await finishRefunds(deps);
    },
  };
};

const requireStripe = (config: BillingConfig) => {
  const secretKey = config.STRIPE_SECRET_KEY;
  if (secretKey === undefined) throw new Error('STRIPE_SECRET_KEY is not set');
  return { secretKey, apiBase: config.STRIPE_API_BASE };
};
