import type { RequestListener } from 'node:http';
import { newId, previewRestore, RECEIPT_TYPE } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { restoreRoutes } from '@svc/messaging';
import { openSecretKeys, openSigningKeys, requireSecretKeys, secretRoutes } from '@svc/secrets';
import {
  type Authenticators,
  type Binding,
  bind,
  createInternalApp,
  createServiceApp,
  type InternalClient,
  systemClock,
} from '@svc/service-kit';
import { accountDeletionRoutes } from './account-deletions.ts';
import { auditRoutes } from './audit-log.ts';
import { createAuthClient } from './auth-client.ts';
import { createHolderMeters, createHolderSweep, holderRoutes } from './gateway-processes.ts';
import type { Job } from './jobs.ts';
import {
  createLeaseMeters,
  endSilent,
  leaseRoutes,
  memberLimitRoutes,
  type RecallLeases,
  recallWallet,
  sweepLeases,
} from './leases/index.ts';
import { alertRoutes, appBudgetRoutes, extraUsageRoutes } from './limits/index.ts';
import { finishRestore } from './payments/index.ts';
import { personalDataRoutes } from './personal-data.ts';
import { planInternalRoutes, planRoutes } from './plans.ts';
import {
  createReservationMeters,
  endRestoredRequests,
  reservationOperatorRoutes,
  reservationRoutes,
  type SettlementDeps,
  sweepReservations,
  unadmittedOperatorRoutes,
} from './reservations/index.ts';
import { type SeatDeps, seatInternalRoutes, seatRoutes } from './seats/index.ts';
import {
  announcePresent,
  countCustomers,
  subscriptionInternalRoutes,
  subscriptionRoutes,
} from './subscriptions/index.ts';
import { createReceiptSigning, receiptInternalRoutes, receiptRoutes } from './usage/receipts.ts';
import { usageInternalRoutes, usageRoutes } from './usage/routes.ts';
import { walletRoutes } from './wallets.ts';
import { type PaymentParts, wirePayments } from './wire-payments.ts';

const SERVICE = 'billing';
const SECONDS_PER_HOUR = 3600;

/** Parts from which the application is assembled. Tests replace some of them. */
export interface AppParts extends Omit<PaymentParts, 'auth'> {
  /** Client of the internal routes of auth. */
  readonly auth: Pick<InternalClient, 'call'>;
  readonly authenticate: Authenticators;
  /** Operator routes of outbox and inbox. */
  readonly operatorBindings: readonly Binding[];
  /** Has the consumers read all kept facts again after a restore, and returns how many. */
  readonly readAgain: () => Promise<number>;
  readonly lifecycle?: { readonly isStopping: boolean };
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly monotonicMs?: () => number;
  /** Recalls leases from gateway processes. */
  readonly recallLeases: RecallLeases;
}

export interface App {
  readonly publicApp: RequestListener;
  readonly internalApp: RequestListener;
  /** All bound routes, for a caller in the same process. */
  readonly bindings: readonly Binding[];
  /** Dependencies of the usage consumer. */
  readonly settlement: SettlementDeps;
  /** Dependencies of the consumer of removed members. */
  readonly seats: SeatDeps;
  /** Marks overdue reservations uncertain, and settles overdue uncertain ones. Called periodically. */
  readonly sweep: () => Promise<void>;
  /** Ends what dead gateway processes hold. Called every `HOLDER_SWEEP_INTERVAL_MS`. */
  readonly sweepHolders: () => Promise<void>;
  /** Periodic work on payments. Each job runs apart from the others. */
  readonly paymentJobs: readonly Job[];
}

/** Creates the application without starting background work. */
export const createApp = async (parts: AppParts): Promise<App> => {
  const { config, database, logger, relay } = parts;
  const auth = createAuthClient(parts.auth);
  const common = {
    database,
    logger,
    relay,
    auth,
    newId,
    meters: createReservationMeters(parts.metrics),
    currency: config.BILLING_CURRENCY,
    pastDueGraceDays: config.PAST_DUE_GRACE_DAYS,
    leaseMeters: createLeaseMeters(parts.metrics),
    recallLeases: parts.recallLeases,
  };
  const receipts = openSigningKeys({
    secrets: openSecretKeys('RECEIPT_KEY_SECRET', config.RECEIPT_KEY_SECRET),
    database,
    purpose: 'receipts',
    typ: RECEIPT_TYPE,
    clock: Date.now,
  });
  await requireSecretKeys(database, [receipts.use]);
  const receiptKeys = receipts.keys;
  const receiptSigning = createReceiptSigning({ ...common, issuer: config.PUBLIC_BASE_URL, receiptKeys });
  const payments = wirePayments({ ...parts, auth });
  const publicBindings = [
    ...planRoutes(parts.offer),
    ...subscriptionRoutes(common),
    ...usageRoutes(common),
    ...extraUsageRoutes(common),
    ...alertRoutes(common),
    ...receiptRoutes({ receipts: receiptSigning, receiptKeys }),
    ...walletRoutes(common),
    ...organizationRoutes(common),
    ...payments.bindings,
  ];
  const internalBindings = [
    ...reservationRoutes({ ...common, recallWallet: (userId) => recallWallet(common, userId) }),
    ...leaseRoutes(common),
    ...reservationOperatorRoutes(common),
    ...unadmittedOperatorRoutes(common),
    ...holderRoutes(common),
    ...appBudgetRoutes(common),
    ...planInternalRoutes(parts.offer),
    ...subscriptionInternalRoutes(common),
    ...organizationInternalRoutes(common),
    ...usageInternalRoutes(common),
    ...receiptInternalRoutes({ receipts: receiptSigning, withdrawKeys: receipts.withdraw }),
    ...secretRoutes({ service: SERVICE, database, uses: [receipts.use] }),
    ...accountDeletionRoutes(common),
    ...personalDataRoutes({ url: config.DATABASE_URL, caFile: config.DATABASE_CA_FILE }),
    ...parts.operatorBindings,
    ...bindRestores(parts, common, payments),
    ...payments.internalBindings,
  ];
  return {
    publicApp: createPublicApp(parts, publicBindings),
    internalApp: createInternal(parts, internalBindings),
    bindings: [...publicBindings, ...internalBindings],
    settlement: common,
    seats: common,
    sweep: async () => {
      const settleAfterSeconds = config.UNCERTAIN_SETTLE_AFTER_HOURS * SECONDS_PER_HOUR;
      const uncertainAfterSeconds = config.RESERVATION_UNCERTAIN_AFTER_SECONDS;
      await sweepReservations(common, { uncertainAfterSeconds, settleAfterSeconds });
      await sweepLeases(common, { settleAfterSeconds });
    },
    sweepHolders: createHolderSweep({
      ...common,
      holderMeters: createHolderMeters(parts.metrics),
      monotonicMs: parts.monotonicMs ?? (() => performance.now()),
    }),
    paymentJobs: payments.jobs,
  };
};

/** Binds the public routes of seats, and of the limits of members. */
const organizationRoutes = (deps: SeatDeps & Parameters<typeof memberLimitRoutes>[0]): Binding[] => [
  ...seatRoutes(deps),
  ...memberLimitRoutes(deps),
];

/** Binds what auth reads of organizations. */
const organizationInternalRoutes = (deps: Parameters<typeof auditRoutes>[0]): Binding[] => [
  ...seatInternalRoutes(deps),
  ...auditRoutes(deps),
];

/** Binds what follows a restore of the database, and its preview. */
const bindRestores = (
  { database, relay, readAgain }: AppParts,
  common: Parameters<typeof endRestoredRequests>[0] &
    Parameters<typeof endSilent>[0] &
    Pick<Parameters<typeof announcePresent>[0], 'pastDueGraceDays'>,
  payments: ReturnType<typeof wirePayments>,
): Binding[] => [
  ...restoreRoutes({
    service: SERVICE,
    database,
    readAgain,
    afterRestore: async ({ epoch }, restoredTo) => {
      await endRestoredRequests(common, restoredTo);
      await endSilent(common, 0);
      const { reconciled, failed } = await payments.reconcile(restoredTo);
      const told = await announcePresent({ ...common, relay }, epoch);
      await finishRestore(database, epoch);
      return { reconciled, announced: told.announced, failed: [...failed, ...told.failed] };
    },
  }),
  bind(previewRestore, async ({ body }) => {
    const { effects, reconciled, failed } = await payments.preview(new Date(body.restored_to));
    const announced = await countCustomers(database);
    return { status: 200, body: { effects: [...effects], reconciled, announced, failed: [...failed] } };
  }),
];

const createPublicApp = (
  { config, logger, metrics, authenticate, clock = systemClock }: AppParts,
  bindings: readonly Binding[],
): RequestListener =>
  createServiceApp({
    service: SERVICE,
    bindings,
    authenticate,
    logger,
    metrics,
    isUnavailable: isConnectionFailure,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    responseValidation: config.RESPONSE_VALIDATION,
    stepUp: { maxAgeSeconds: config.STEP_UP_MAX_AGE_SECONDS, clock },
  });

const createInternal = (
  { config, database, logger, metrics, lifecycle }: AppParts,
  bindings: readonly Binding[],
): RequestListener =>
  createInternalApp({
    service: SERVICE,
    bindings,
    logger,
    metrics,
    isUnavailable: isConnectionFailure,
    tokens: config.INTERNAL_API_TOKENS,
    responseValidation: config.RESPONSE_VALIDATION,
    ...(lifecycle === undefined ? {} : { lifecycle }),
    // Without NATS, billing still admits requests, settles by call and takes payments. Facts wait in the outbox.
    ready: async () => ({
      database: await database.raw('SELECT 1').then(
        () => true,
        () => false,
      ),
    }),
  });
