import { applyEndings } from './endings/index.ts';
import { countDeferredItems, type Job, listDeferredItems, runItems } from './jobs/index.ts';
import {
  type AutoTopUpDeps,
  countMismatchedSessions,
  type EventSweep,
  finishCharges,
  finishRefunds,
  finishSeatChanges,
  invoiceCharges,
  type PaymentMeters,
  refreshStoredSubscription,
  runAutoTopUps,
  settleOldCheckouts,
} from './payments/index.ts';
import { listSilentOrders } from './seats/index.ts';
import { listSilentSubscriptions } from './subscriptions/index.ts';

export interface PaymentJobDeps extends AutoTopUpDeps {
  readonly paymentMeters: PaymentMeters;
  readonly sweep: EventSweep;
}

/** Interval of the jobs that ask Stripe although nothing may have happened. */
const ASKING_INTERVAL_MS = 60_000;
/** Subscriptions refreshed per run. */
const SUBSCRIPTIONS_MAX = 50;

/** Creates the periodic work on payments. Each job runs apart from the others. */
export const createPaymentJobs = (
  deps: PaymentJobDeps,
  { intervalMs }: { readonly intervalMs: number },
): readonly Job[] => [
  { name: 'gauges', intervalMs, run: () => measure(deps) },
  { name: 'events', intervalMs: ASKING_INTERVAL_MS, run: deps.sweep.run },
  { name: 'subscriptions', intervalMs: ASKING_INTERVAL_MS, run: () => refreshSubscriptions(deps) },
  { name: 'checkouts', intervalMs: ASKING_INTERVAL_MS, run: () => settleOldCheckouts(deps) },
  { name: 'refunds', intervalMs, run: () => finishRefunds(deps) },
  { name: 'seats', intervalMs, run: () => finishSeatChanges(deps) },
  { name: 'invoices', intervalMs, run: () => invoiceCharges(deps) },
  { name: 'account_endings', intervalMs, run: () => applyEndings(deps) },
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
