import type { RequestListener } from 'node:http';
import { routesOf } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { restoreRoutes } from '@svc/messaging';
import { type Authenticators, type Binding, createInternalApp, createServiceApp } from '@svc/service-kit';
import { alertRoutes } from './alerts/index.ts';
import { appBudgetRoutes } from './app-budgets/index.ts';
import { createHolderMeters, createHolderSweep, holderRoutes } from './holders/index.ts';
import type { PaymentParts } from './payment-parts.ts';
import { personalDataRoutes } from './personal-data/index.ts';
import { planRoutes } from './plans/index.ts';
import { openReceiptKeys, receiptInternalRoutes, receiptRoutes } from './receipts/index.ts';
import {
  createReservationMeters,
  endRestoredRequests,
  reservationOperatorRoutes,
  reservationRoutes,
  type SettlementDeps,
  sweepReservations,
} from './reservations/index.ts';
import { announcePresent, subscriptionInternalRoutes, subscriptionRoutes } from './subscriptions/index.ts';
import { usageInternalRoutes, usageRoutes } from './usage/index.ts';
import { walletRoutes } from './wallets/index.ts';
import { wirePayments } from './wire-payments.ts';

const SERVICE = 'billing';
const SECONDS_PER_HOUR = 3600;
/** Path prefix of the payment provider that is not configured; its routes answer 404. */
const FOREIGN_PATHS = { sandbox: '/v1/payments/stripe/', stripe: '/sandbox/payments/' } as const;

/** Parts from which the application is assembled. Tests replace some of them. */
export interface AppParts extends PaymentParts {
  readonly authenticate: Authenticators;
  /** Operator routes of outbox and inbox. */
  readonly operatorBindings: readonly Binding[];
  /** Has the consumers read all kept facts again after a restore, and returns how many. */
  readonly readAgain: () => Promise<number>;
  readonly lifecycle?: { readonly isStopping: boolean };
  /** Monotonic clock in milliseconds. Default: `performance.now`. */
  readonly monotonicMs?: () => number;
}

export interface App {
  readonly publicApp: RequestListener;
  readonly internalApp: RequestListener;
  /** Dependencies of the usage consumer. */
  readonly settlement: SettlementDeps;
  /** Marks overdue reservations uncertain, and settles overdue uncertain ones. Called periodically. */
  readonly sweep: () => Promise<void>;
  /** Marks the requests of dead gateway processes uncertain. Called every `HOLDER_SWEEP_INTERVAL_MS`. */
  readonly sweepHolders: () => Promise<void>;
  /** Catches up with the payment provider. Called every `paymentsIntervalMs`. */
  readonly tickPayments: () => Promise<void>;
  readonly paymentsIntervalMs: number;
  /** Tops up wallets that are low, where their owners have turned that on. Called periodically. */
  readonly topUpWallets: () => Promise<void>;
}

/** Creates the application without starting background work. */
export const createApp = async (parts: AppParts): Promise<App> => {
  const { config, database, logger } = parts;
  const common = {
    database,
    logger,
    meters: createReservationMeters(parts.metrics),
    currency: config.BILLING_CURRENCY,
    pastDueGraceDays: config.PAST_DUE_GRACE_DAYS,
  };
  const receipts = {
    ...common,
    issuer: config.PUBLIC_BASE_URL,
    receiptKeys: openReceiptKeys(config.RECEIPT_KEY_SECRET, Date.now),
  };
  const payments = await wirePayments(parts);
  return {
    publicApp: createPublicApp(parts, [
      ...planRoutes(parts.offer),
      ...subscriptionRoutes(common),
      ...usageRoutes(common),
      ...alertRoutes(common),
      ...receiptRoutes(receipts),
      ...walletRoutes(common),
      ...payments.bindings,
    ]),
    internalApp: createInternal(parts, [
      ...reservationRoutes(common),
      ...reservationOperatorRoutes(common),
      ...holderRoutes(common),
      ...appBudgetRoutes(common),
      ...subscriptionInternalRoutes(common),
      ...usageInternalRoutes(common),
      ...receiptInternalRoutes(receipts),
      ...personalDataRoutes({ url: config.DATABASE_URL, caFile: config.DATABASE_CA_FILE }),
      ...parts.operatorBindings,
      ...restoreRoutes({
        service: SERVICE,
        database,
        readAgain: parts.readAgain,
        afterRestore: async ({ epoch }, restoredTo) => {
          await endRestoredRequests(common, restoredTo);
          return {
            reconciled: await payments.reconcile(restoredTo),
            announced: await announcePresent({ ...common, relay: parts.relay }, epoch),
          };
        },
      }),
      ...payments.internalBindings,
    ]),
    settlement: common,
    sweep: () =>
      sweepReservations(common, {
        uncertainAfterSeconds: config.RESERVATION_UNCERTAIN_AFTER_SECONDS,
        settleAfterSeconds: config.UNCERTAIN_SETTLE_AFTER_HOURS * SECONDS_PER_HOUR,
      }),
    sweepHolders: createHolderSweep({
      ...common,
      holderMeters: createHolderMeters(parts.metrics),
      monotonicMs: parts.monotonicMs ?? (() => performance.now()),
    }),
    tickPayments: payments.tick,
    paymentsIntervalMs: payments.tickIntervalMs,
    topUpWallets: payments.topUp,
  };
};

const createPublicApp = (
  { config, logger, metrics, authenticate }: AppParts,
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
    contract: routesOf(SERVICE).filter(({ path }) => !path.startsWith(FOREIGN_PATHS[config.PAYMENTS ?? 'sandbox'])),
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
