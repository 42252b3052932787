import { appBudgetRoutes } from '@svc/billing/src/app-budgets/index.ts';
import { startEndingConsumer } from '@svc/billing/src/endings/index.ts';
import {
  createHolderMeters,
  createHolderSweep,
  HOLDER_SWEEP_INTERVAL_MS,
  holderRoutes,
} from '@svc/billing/src/holders/index.ts';
import { openPlanOffer } from '@svc/billing/src/plans/index.ts';
import {
  createReservationMeters,
  endRestoredRequests,
  reservationRoutes,
  startUsageConsumer,
  sweepReservations,
} from '@svc/billing/src/reservations/index.ts';
import { announcePresent, subscriptionInternalRoutes } from '@svc/billing/src/subscriptions/index.ts';
import { newId } from '@svc/contracts';
import { restoreRoutes, startRelay } from '@svc/messaging';
import { runPeriodically } from '@svc/service-kit';
import { createProcess, runIn, type SimulatedProcess } from '../engine/simulated-process.ts';
import { connectToBroker } from '../network/broker-client.ts';
import { type CallRoute, createCaller } from './call-routes.ts';
import { openDatabase } from './open-database.ts';
import type { PaymentService } from './payment-service.ts';
import { wirePaymentService } from './payment-wiring.ts';
import { PLANS } from './population.ts';
import type { Surroundings } from './surroundings.ts';

const POOL_MAX = 6;
const CURRENCY = 'EUR';
const PAST_DUE_GRACE_DAYS = 7;
const SWEEP_INTERVAL_MS = 2_000;
const PAYMENTS_INTERVAL_MS = 20_000;
const SWEEPING = { uncertainAfterSeconds: 120, settleAfterSeconds: 24 * 3600 };

/** A running process of billing. */
export interface BillingProcess {
  readonly process: SimulatedProcess;
  readonly call: CallRoute;
  readonly payments: ReturnType<typeof wirePaymentService>;
  /** The operator's command `svc outbox reconcile`. */
  readonly reconcile: () => void;
}

/** Starts billing as its `main.ts` does, without HTTP. */
export const startBilling = async (
  name: string,
  surroundings: Surroundings,
  provider: PaymentService,
): Promise<BillingProcess> => {
  const process = createProcess(name);
  return await runIn(process, () => start(process, surroundings, provider));
};

const start = async (
  process: SimulatedProcess,
  surroundings: Surroundings,
  provider: PaymentService,
): Promise<BillingProcess> => {
  const { server, stepper, time, metrics } = surroundings;
  const { name } = process;
  const database = openDatabase(surroundings, 'billing', POOL_MAX);
  const offer = await openPlanOffer(database, PLANS);
  const messaging = connectToBroker({ name, ...surroundings });
  const { logger } = surroundings;
  const relay = startRelay({
    databaseUrl: server.url('billing'),
    openStream: () => stepper.openStream('billing'),
    messaging,
    service: 'billing',
  });
  const common = {
    database,
    logger,
    meters: createReservationMeters(metrics),
    currency: CURRENCY,
    pastDueGraceDays: PAST_DUE_GRACE_DAYS,
  };
  const payments = wirePaymentService({ ...common, offer, relay, newId }, { name, provider, surroundings });
  startUsageConsumer({ ...common, messaging });
  startEndingConsumer({ database, messaging });
  const periodically = (part: string, intervalMs: number, run: () => Promise<void>) =>
    runPeriodically({ name: part, intervalMs, logger, run });
  periodically('sweep', SWEEP_INTERVAL_MS, () => sweepReservations(common, SWEEPING));
  const holderMeters = createHolderMeters(metrics);
  const sweepHolders = createHolderSweep({ ...common, holderMeters, monotonicMs: () => time.elapsedMs() });
  periodically('holder sweep', HOLDER_SWEEP_INTERVAL_MS, sweepHolders);
  periodically('payments', PAYMENTS_INTERVAL_MS, payments.tick);
  periodically('automatic top-ups', SWEEP_INTERVAL_MS, payments.topUp);
  const call = createCaller([
    ...reservationRoutes(common),
    ...holderRoutes(common),
    ...appBudgetRoutes(common),
    ...subscriptionInternalRoutes(common),
    ...payments.bindings,
    ...restoreRoutes({
      service: 'billing',
      database,
      readAgain: async () => surroundings.broker.durable('INFERENCE', 'billing_usage')?.rewind() ?? 0,
      afterRestore: async ({ epoch }, restoredTo) => {
        await endRestoredRequests(common, restoredTo);
        return {
          reconciled: await payments.reconcile(restoredTo),
          announced: await announcePresent({ ...common, relay }, epoch),
        };
      },
    }),
  ]);
  return { process, call, payments, reconcile: relay.reconcile };
};
