import type { RequestListener } from 'node:http';
import { routesOf } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import {
  type Authenticators,
  type Binding,
  createInternalApp,
  createServiceApp,
  type Logger,
  type Metrics,
} from '@svc/service-kit';
import type { Knex } from 'knex';
import type { BillingConfig } from './config.ts';
import { createHolderMeters, createHolderSweep, holderRoutes } from './holders/index.ts';
import { type PlanOffer, planRoutes } from './plans/index.ts';
import {
  createReservationMeters,
  reservationOperatorRoutes,
  reservationRoutes,
  type SettlementDeps,
  sweepReservations,
} from './reservations/index.ts';
import { subscriptionInternalRoutes, subscriptionRoutes } from './subscriptions/index.ts';
import { usageInternalRoutes, usageRoutes } from './usage/index.ts';
import { walletRoutes } from './wallets/index.ts';
import { wirePayments } from './wire-payments.ts';

const SERVICE = 'billing';
const SECONDS_PER_HOUR = 3600;
/** The paths that a payment provider does without. */
const PATHS_WITHOUT = { sandbox: '/v1/payments/stripe/', stripe: '/sandbox/payments/' } as const;

/** What the application stands on; a test brings its own. */
export interface BillingParts {
  readonly config: BillingConfig;
  readonly database: Knex;
  readonly offer: PlanOffer;
  readonly relay: { hint(): void };
  readonly authenticate: Authenticators;
  /** The operator's routes over outbox and inbox. */
  readonly operatorBindings: readonly Binding[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly lifecycle?: { readonly isStopping: boolean };
  /** Milliseconds of a monotonic clock; the machine's unless given. */
  readonly monotonicMs?: () => number;
}

/** The wired service. */
export interface BillingApp {
  readonly publicApp: RequestListener;
  readonly internalApp: RequestListener;
  /** What the consumer of usage settles with. */
  readonly settlement: SettlementDeps;
  /** Lets reservations go uncertain and settles them; to be called periodically. */
  readonly sweep: () => Promise<void>;
  /** Ends what dead gateway processes had under way; to be called every `HOLDER_SWEEP_INTERVAL_MS`. */
  readonly sweepHolders: () => Promise<void>;
  /** Does what the payment provider wants done, whatever it tells; to be called every `paymentsIntervalMs`. */
  readonly tickPayments: () => Promise<void>;
  readonly paymentsIntervalMs: number;
}

/** Wires the service together. */
export const createBillingApp = (parts: BillingParts): BillingApp => {
  const { config, database, logger } = parts;
  const common = {
    database,
    logger,
    meters: createReservationMeters(parts.metrics),
    currency: config.BILLING_CURRENCY,
    pastDueGraceDays: config.PAST_DUE_GRACE_DAYS,
  };
  const payments = wirePayments(parts);
  const bindings = [
    ...planRoutes(parts.offer),
    ...subscriptionRoutes(common),
    ...usageRoutes(common),
    ...walletRoutes(common),
    ...payments.bindings,
  ];
  const internalBindings = [
    ...reservationRoutes(common),
    ...reservationOperatorRoutes(common),
    ...holderRoutes(common),
    ...subscriptionInternalRoutes(common),
    ...usageInternalRoutes(common),
    ...parts.operatorBindings,
    ...payments.internalBindings,
  ];
  return {
    publicApp: createPublicApp(parts, bindings),
    internalApp: createInternal(parts, internalBindings),
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
  };
};

const createPublicApp = (parts: BillingParts, bindings: readonly Binding[]): RequestListener => {
  const { config, logger, metrics, authenticate } = parts;
  return createServiceApp({
    ...{ service: SERVICE, bindings, authenticate, logger, metrics, isUnavailable: isConnectionFailure },
    publicBaseUrl: config.PUBLIC_BASE_URL,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    responseValidation: config.RESPONSE_VALIDATION,
    // What belongs to the other payment provider does not exist.
    contract: routesOf(SERVICE).filter((route) => !route.path.startsWith(PATHS_WITHOUT[config.PAYMENTS ?? 'sandbox'])),
  });
};

const createInternal = (parts: BillingParts, bindings: readonly Binding[]): RequestListener => {
  const { config, database, logger, metrics, lifecycle } = parts;
  return createInternalApp({
    ...{ service: SERVICE, bindings, logger, metrics, isUnavailable: isConnectionFailure },
    tokens: config.INTERNAL_API_TOKENS,
    responseValidation: config.RESPONSE_VALIDATION,
    ...(lifecycle === undefined ? {} : { lifecycle }),
    // The database alone: without NATS billing admits, settles calls and takes payments; facts wait, as the metrics tell.
    ready: async () => ({
      database: await database.raw('SELECT 1').then(
        () => true,
        () => false,
      ),
    }),
  });
};
