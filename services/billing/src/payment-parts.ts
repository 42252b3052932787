import { newId } from '@svc/contracts';
import { type Binding, type Logger, type Metrics, type StepUp, systemClock } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { Config } from './config.ts';
import type { CheckoutDeps, PaymentProvider, SettleCheckoutDeps } from './payments/index.ts';
import type { PlanOffer } from './plans/index.ts';

/** Parts of the application that payments depend on. */
export interface PaymentParts {
  readonly config: Config;
  readonly database: Knex;
  readonly offer: PlanOffer;
  readonly relay: { hint: () => void };
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A wired payment provider. */
export interface Payments {
  readonly bindings: readonly Binding[];
  readonly internalBindings: readonly Binding[];
  /** Catches up with the provider. Called every `tickIntervalMs`. */
  readonly tick: () => Promise<void>;
  readonly tickIntervalMs: number;
  /** Tops up wallets that are low. Called more often than `tick`. */
  readonly topUp: () => Promise<void>;
  /** Takes over purchases and changes since this moment, to which the database was restored. Returns their number. */
  readonly reconcile: (since: Date) => Promise<number>;
}

export const checkoutDeps = (
  { config, database, offer, relay, logger }: PaymentParts,
  provider: PaymentProvider,
): CheckoutDeps & SettleCheckoutDeps & { readonly stepUp: StepUp } => ({
  database,
  provider,
  offer,
  relay,
  logger,
  newId,
  currency: config.BILLING_CURRENCY,
  pastDueGraceDays: config.PAST_DUE_GRACE_DAYS,
  stepUp: { maxAgeSeconds: config.STEP_UP_MAX_AGE_SECONDS, clock: systemClock },
});
