import { Readable } from 'node:stream';
import { createApp } from '@svc/billing/src/app.ts';
import { startBackgroundWork } from '@svc/billing/src/background-work.ts';
import { configSchema, jwksUrlOf } from '@svc/billing/src/config.ts';
import type { RecallLeases } from '@svc/billing/src/leases/index.ts';
import { openPlanOffer } from '@svc/billing/src/plans.ts';
import { keepRequestPartitions } from '@svc/billing/src/reservations/keep-request-partitions.ts';
import type { RouteDefinition } from '@svc/contracts';
import { startRelay } from '@svc/messaging';
import type { StripeStandIn } from '@svc/sandbox/stripe';
import { Act, type Binding, createTokenAuthenticators, loadConfig } from '@svc/service-kit';
import { createProcess, runIn, type SimulatedProcess } from '../engine/simulated-process.ts';
import { connectToBroker } from '../network/broker-client.ts';
import { stripeTransport } from '../network/network.ts';
import { PLANS } from './population.ts';
import type { Surroundings } from './surroundings.ts';
import { openDatabase } from './surroundings.ts';

interface RouteInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly caller?: unknown;
  /** Body and headers as they were sent, for a route that reads them itself. */
  readonly raw?: { readonly body: string; readonly headers: Readonly<Record<string, string>> };
}

/** Acts of people who act for no organization stand in no log. */
const OF_PERSON = { organizationId: null, actorId: '', source: 'console' } as const;

/** Calls the handlers of a service's routes without HTTP. */
type CallRoute = (route: RouteDefinition, input: RouteInput) => Promise<unknown>;

/** Creates the function that calls these bindings and returns the body of the reply. */
const createCaller = (bindings: readonly Binding[]): CallRoute => {
  const byRoute = new Map(bindings.map((binding) => [binding.route, binding]));
  return async (route, { params = {}, body, caller = { kind: 'service', name: 'inference-gateway' }, raw }) => {
    const binding = byRoute.get(route);
    if (binding === undefined) throw new Error(`no handler is bound to ${route.path}`);
    const req = raw && Object.assign(Readable.from([Buffer.from(raw.body)]), { headers: raw.headers });
    // The handlers of these routes read no other part of a request.
    const act = route.audit == null ? undefined : new Act(route.audit, OF_PERSON);
    const request = {
      params,
      body,
      caller,
      act,
      query: {},
      headers: {},
      req,
      nameRequests: () => undefined,
    } as unknown;
    try {
      const reply = await binding.handle(request as Parameters<Binding['handle']>[0]);
      return typeof reply === 'object' ? reply.body : undefined;
    } catch (error) {
      // No retry of a caller may hide a mistake of the code: it ends the simulation.
      if (error instanceof TypeError || error instanceof ReferenceError) {
        queueMicrotask(() => {
          throw error;
        });
      }
      throw error;
    }
  };
};

const POOL_MAX = 6;

/** A running process of billing. */
export interface BillingProcess {
  readonly process: SimulatedProcess;
  readonly call: CallRoute;
  /** The operator's command `svc outbox reconcile`. */
  readonly reconcile: () => void;
}

interface BillingSurroundings {
  readonly stripe: StripeStandIn;
  readonly recallLeases: RecallLeases;
}

/** Starts billing as its `main.ts` does, without sockets. */
export const startBilling = async (
  name: string,
  surroundings: Surroundings,
  outside: BillingSurroundings,
): Promise<BillingProcess> => {
  const process = createProcess(name);
  return await runIn(process, () => start(process, surroundings, outside));
};

const start = async (
  process: SimulatedProcess,
  surroundings: Surroundings,
  { stripe, recallLeases }: BillingSurroundings,
): Promise<BillingProcess> => {
  const { server, stepper, time, metrics, logger, network } = surroundings;
  const { name } = process;
  const config = loadConfig(configSchema, {
    DATABASE_URL: server.url('billing'),
    NATS_URL: 'nats://broker.test:4222',
    PUBLIC_BASE_URL: 'https://svc.test',
    AUTH_INTERNAL_URL: 'http://auth.test',
    INTERNAL_API_TOKENS: `operator:${'0'.repeat(32)}`,
    INTERNAL_API_TOKEN: `billing:${'0'.repeat(32)}`,
    PLANS_FILE: 'plans.yaml',
    RECEIPT_KEY_SECRET: Buffer.alloc(32).toString('base64'),
  });
  const database = openDatabase(surroundings, 'billing', POOL_MAX);
  const offer = await openPlanOffer(database, PLANS);
  const messaging = connectToBroker({ name, ...surroundings });
  const relay = startRelay({
    databaseUrl: config.DATABASE_URL,
    openStream: () => stepper.openStream('billing'),
    messaging,
    service: 'billing',
  });
  const app = await createApp({
    config,
    database,
    offer,
    relay,
    logger,
    metrics,
    recallLeases,
    // No organization is simulated.
    auth: { call: () => Promise.reject(new Error('unused')) },
    // Callers are given with each call, so that no token is read.
    authenticate: createTokenAuthenticators({
      publicBaseUrl: config.PUBLIC_BASE_URL,
      jwksUrl: jwksUrlOf(config),
      revocations: { refreshIfStale: () => undefined, isRevoked: () => false },
      auth: { call: () => Promise.reject(new Error('unused')) },
    }),
    operatorBindings: [],
    readAgain: async () => surroundings.broker.durable('INFERENCE', 'billing_usage')?.rewind() ?? 0,
    monotonicMs: () => time.elapsedMs(),
    stripeTransport: stripeTransport(name, network, stripe),
  });
  const life = { onStop: () => undefined };
  const keepPartitions = () =>
    keepRequestPartitions(database, { nowMs: time.nowMs(), daysKept: config.REQUEST_RETENTION_DAYS });
  const sweepIntervalMs = config.SWEEP_INTERVAL_MS;
  startBackgroundWork(life, app, { database, messaging, logger, sweepIntervalMs, keepPartitions });
  return { process, call: createCaller(app.bindings), reconcile: relay.reconcile };
};
