import { newId, type RestoreEffect } from '@svc/contracts';
import { type Binding, type Clock, type Logger, type Metrics, systemClock } from '@svc/service-kit';
import type { Knex } from 'knex';
import { applyAccountDeletions } from './account-deletions.ts';
import type { AuthClient } from './auth-client.ts';
import { type Config, stripeSettingsOf } from './config.ts';
import { countDeferredItems, createJobMeters, type Job, listDeferredItems, runItems } from './jobs.ts';
import {
  type AutoTopUpDeps,
  askStripe,
  countMismatchedSessions,
  createEventSweep,
  createPaymentMeters,
  createProviderMeters,
  createStripeClient,
  createStripeListener,
  type EventSweep,
  eventRoutes,
  finishCharges,
  finishRefunds,
  finishSeatChanges,
  invoiceCharges,
  type PaymentMeters,
  paymentInternalRoutes,
  paymentRoutes,
  previewReconcile,
  type Reconciled,
  reconcileWithStripe,
  refreshStoredSubscription,
  runAutoTopUps,
  type StripeTransport,
  settleOldCheckouts,
  withoutWrites,
} from './payments/index.ts';
import type { PlanOffer } from './plans.ts';
import { listSilentOrders } from './seats/index.ts';
import { listSilentSubscriptions } from './subscriptions/index.ts';

interface PaymentJobDeps extends AutoTopUpDeps {
  readonly paymentMeters: PaymentMeters;
  readonly sweep: EventSweep;
}

/** Interval of the jobs that ask Stripe although nothing may have happened. */
const ASKING_INTERVAL_MS = 60_000;
/** Subscriptions refreshed per run. */
const SUBSCRIPTIONS_MAX = 50;

/** Creates the periodic work on payments. Each job runs apart from the others. */
const createPaymentJobs = (deps: PaymentJobDeps, { intervalMs }: { readonly intervalMs: number }): readonly Job[] => [
  { name: 'gauges', intervalMs, run: () => measure(deps) },
  { name: 'events', intervalMs: ASKING_INTERVAL_MS, run: deps.sweep.run },
  { name: 'subscriptions', intervalMs: ASKING_INTERVAL_MS, run: () => refreshSubscriptions(deps) },
  { name: 'checkouts', intervalMs: ASKING_INTERVAL_MS, run: () => settleOldCheckouts(deps) },
  { name: 'refunds', intervalMs, run: () => finishRefunds(deps) },
  { name: 'seats', intervalMs, run: () => finishSeatChanges(deps) },
  { name: 'invoices', intervalMs, run: () => invoiceCharges(deps) },
  { name: 'account_endings', intervalMs, run: () => applyAccountDeletions(deps) },
  { name: 'automatic_charges', intervalMs, run: () => finishCharges(deps) },
  { name: 'automatic_top_ups', intervalMs, run: () => runAutoTopUps(deps) },
];

const measure = async ({ database, paymentMeters, jobMeters }: PaymentJobDeps): Promise<void> => {
  paymentMeters.mismatched(await countMismatchedSessions(database));
  jobMeters.deferred(await countDeferredItems(database));
};

/** Refreshes subscriptions of which Stripe has said nothing for long, and those that could not be read before. */
const refreshSubscriptions = async (deps: PaymentJobDeps): Promise<void> => {
  const ids = new Set([
    ...(await listSilentSubscriptions(deps.database, SUBSCRIPTIONS_MAX)),
    ...(await listSilentOrders(deps.database, SUBSCRIPTIONS_MAX)),
    ...(await listDeferredItems(deps.database, 'subscriptions', SUBSCRIPTIONS_MAX)),
  ]);
  await runItems(deps, 'subscriptions', [...ids], (id) => refreshStoredSubscription(deps, id));
};

/** Parts of the application that payments depend on. */
export interface PaymentParts {
  readonly config: Config;
  readonly database: Knex;
  readonly auth: Pick<AuthClient, 'nameSoon'>;
  readonly offer: PlanOffer;
  readonly relay: { hint: () => void };
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Sends requests to Stripe. Default: over HTTP. */
  readonly stripeTransport?: StripeTransport;
}

export interface Payments {
  readonly bindings: readonly Binding[];
  readonly internalBindings: readonly Binding[];
  /** Periodic work. Each job runs apart from the others. */
  readonly jobs: readonly Job[];
  /** Takes over purchases and changes since this moment, to which the database was restored. */
  readonly reconcile: (since: Date) => Promise<Reconciled>;
  /** Lists what `reconcile` would do, and changes nothing. */
  readonly preview: (since: Date) => Promise<Reconciled & { readonly effects: readonly RestoreEffect[] }>;
}

/** Wires payments with Stripe, or with its stand-in, which differs in address and keys only. */
export const wirePayments = (parts: PaymentParts): Payments => {
  const { config, database, auth, offer, relay, logger, metrics, clock = systemClock, stripeTransport } = parts;
  const { webhookSecrets: secrets, ...settings } = stripeSettingsOf(config);
  const providerMeters = createProviderMeters(metrics);
  const stripe = createStripeClient(settings, providerMeters, clock, stripeTransport);
  const deps = {
    database,
    auth,
    stripe,
    clock,
    offer,
    relay,
    logger,
    newId,
    currency: config.BILLING_CURRENCY,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    pastDueGraceDays: config.PAST_DUE_GRACE_DAYS,
    stepUp: { maxAgeSeconds: config.STEP_UP_MAX_AGE_SECONDS, clock },
    jobMeters: createJobMeters(metrics),
    paymentMeters: createPaymentMeters(metrics),
    providerMeters,
  };
  const listener = createStripeListener(deps);
  const sweep = createEventSweep({ ...deps, listener });
  const dryRun: Parameters<typeof previewReconcile>[0]['dryRun'] = (note) =>
    createStripeClient(settings, providerMeters, clock, withoutWrites(note, stripeTransport));
  return {
    bindings: [...paymentRoutes(deps), ...eventRoutes({ stripe, listener, secrets, providerMeters })],
    internalBindings: paymentInternalRoutes(deps),
    reconcile: (since) => askStripe(() => reconcileWithStripe(deps, since)),
    preview: (since) => askStripe(() => previewReconcile({ ...deps, dryRun }, since)),
    jobs: createPaymentJobs({ ...deps, sweep }, { intervalMs: config.SWEEP_INTERVAL_MS }),
  };
};
