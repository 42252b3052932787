import { systemClock } from '@svc/service-kit';
import type { Config } from './config.ts';
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
  updateProviderSession,
} from './payments/index.ts';
import {
  askStripe,
  createEventSweep,
  createStripeClient,
  createStripeProvider,
  reconcileWithStripe,
  refreshReversals,
  type StripeListener,
  type StripeSettings,
  stripeRoutes,
} from './payments/stripe/index.ts';
import { listSilentSubscriptions } from './subscriptions/index.ts';

const SWEEP_INTERVAL_MS = 60_000;
/** Silent subscriptions refreshed per tick. */
const SILENT_MAX = 50;

export const wireStripe = (parts: PaymentParts): Payments => {
  const { config, database, logger } = parts;
  const stripe = createStripeClient(settingsOf(config));
  const deps = checkoutDeps(parts, createStripeProvider({ database, stripe }));
  const listener: StripeListener = {
    async checkoutChanged({ sessionId, providerSessionId }) {
      if (sessionId === null) return;
      // The event may arrive before the call that created the session returns.
      await updateProviderSession(database, sessionId, providerSessionId);
      const session = await findCheckoutSession(database, sessionId);
      if (session?.providerSessionId === providerSessionId) await settleCheckout(deps, session);
    },
    subscriptionChanged: (id) => refreshSubscription(deps, id),
    paymentReversed: (id) => refreshReversals({ ...deps, stripe }, id),
  };
  const sweep = createEventSweep({ stripe, listener, logger, clock: systemClock });
  const secrets = config.STRIPE_WEBHOOK_SECRET ?? [];
  return {
    bindings: [...paymentRoutes(deps), ...stripeRoutes({ stripe, listener, secrets })],
    internalBindings: paymentInternalRoutes(deps),
    reconcile: (since) => askStripe(() => reconcileWithStripe({ ...deps, stripe, listener }, since)),
    topUp: () => runAutoTopUps(deps),
    tickIntervalMs: SWEEP_INTERVAL_MS,
    async tick() {
      await sweep.run();
      for (const id of await listSilentSubscriptions(database, 'stripe', SILENT_MAX)) {
        await refreshSubscription(deps, id);
      }
      await finishRefunds(deps);
      await invoiceCharges(deps);
      await applyEndings(deps);
    },
  };
};

const settingsOf = ({ STRIPE_SECRET_KEY: secretKey, STRIPE_API_BASE: apiBase }: Config): StripeSettings => {
  if (secretKey === undefined) throw new Error('STRIPE_SECRET_KEY is not set');
  return { secretKey, apiBase };
};
