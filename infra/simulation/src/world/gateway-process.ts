import {
  type Admission,
  type DelegatedAdmissionRequest,
  internalRoutes,
  type LeaseAnswer,
  type LeaseAsk,
  newId,
  type RecalledLeases,
} from '@svc/contracts';
import type { Settlement } from '@svc/inference-gateway/src/billing-client.ts';
import { admitDelegated } from '@svc/inference-gateway/src/delegated-requests/admit-delegated.ts';
import type { DelegatedDeps } from '@svc/inference-gateway/src/delegated-requests/delegated-deps.ts';
import { createLeaseClock, LeaseBook } from '@svc/inference-gateway/src/leases/index.ts';
import { createProcessLease, type ProcessLease } from '@svc/inference-gateway/src/leases/process-lease.ts';
import {
  keepUsagePartitions,
  openRequestBook,
  type RequestBook,
  releasedEnd,
  type UsageWriter,
} from '@svc/inference-gateway/src/usage-records/index.ts';
import { openUsage } from '@svc/inference-gateway/src/usage-records/open-usage.ts';
import { startRelay } from '@svc/messaging';
import { createProcess, runIn, type SimulatedProcess } from '../engine/simulated-process.ts';
import { connectToBroker } from '../network/broker-client.ts';
import type { BillingProcess } from './billing-process.ts';
import type { SimulatedKey } from './population.ts';
import type { Surroundings } from './surroundings.ts';
import { openDatabase } from './surroundings.ts';

const POOL_MAX = 4;
const QUEUE_MAX = 10_000;
const ADMISSION_TIMEOUT_MS = 2_000;
const SETTLEMENT_TIMEOUT_MS = 300;
const HOLDER_TIMEOUT_MS = 1_000;
const MONTHS_KEPT = 12;

/** A call to billing, at whichever process takes it. */
type AskBilling = (timeoutMs: number, ask: (billing: BillingProcess) => Promise<unknown>) => Promise<unknown>;

export interface GatewayProcess {
  readonly process: SimulatedProcess;
  /** Serves a request of an app for a user, from admission to the end of its book. */
  readonly serveDelegated: (request: { readonly userId: string; readonly clientId: string }) => Promise<void>;
  readonly serveKey: (key: SimulatedKey) => Promise<void>;
  /** The operator's command `svc outbox reconcile`. */
  readonly reconcile: () => void;
  /** Gives back what its leases hold unspent. */
  readonly recall: (leaseIds: readonly string[]) => RecalledLeases['leases'];
  /** Releases what the operating system would release when the process dies. */
  readonly afterCrash: () => void;
}

interface GatewayOptions {
  readonly name: string;
  readonly surroundings: Surroundings;
  readonly billing: () => BillingProcess | undefined;
  /** Directory of the usage journals, which outlives its processes. */
  readonly journalDirectory: string;
}

/** Starts the part of a gateway that keeps the books of requests. Inference itself is a stand-in. */
export const startGateway = async (options: GatewayOptions): Promise<GatewayProcess> => {
  const process = createProcess(options.name);
  return await runIn(process, () => start(process, options));
};

const start = async (process: SimulatedProcess, options: GatewayOptions): Promise<GatewayProcess> => {
  const { surroundings, journalDirectory } = options;
  const { server, stepper, time, metrics } = surroundings;
  const { name } = process;
  const database = openDatabase(surroundings, 'inference-gateway', POOL_MAX);
  await keepUsagePartitions(database, { nowMs: time.nowMs(), monthsKept: MONTHS_KEPT });
  const relay = startRelay({
    databaseUrl: server.url('inference-gateway'),
    openStream: () => stepper.openStream('inference-gateway'),
    messaging: connectToBroker({ name, ...surroundings }),
    service: 'inference-gateway',
  });
  const billing = createBillingCalls(options);
  const holderId = globalThis.crypto.randomUUID();
  const stops: (() => unknown)[] = [];
  const life = {
    onStop: (step: string, stop: () => unknown) => void (step === 'usage journal' && stops.push(stop)),
    signal: new AbortController().signal,
  };
  const usage = openUsage(
    // Only these two members are used; nothing here ends in an orderly way.
    life as unknown as Parameters<typeof openUsage>[0],
    { database, relay },
    {
      holderId,
      config: { USAGE_JOURNAL_DIR: journalDirectory, USAGE_QUEUE_RECORDS_MAX: QUEUE_MAX },
      billing,
      logger: surroundings.logger,
      metrics,
    },
  );
  const holder = createProcessLease({ id: holderId, billing, isIdle: () => false, logger: surroundings.logger });
  holder.start(`http://${name}`);
  const leases = new LeaseBook({
    askLeases: (asks) => billing.askLeases(holderId, asks),
    deadlineMs: ADMISSION_TIMEOUT_MS,
    monotonicMs: createLeaseClock(),
    metrics,
    onRefused: () => {},
  });
  const parts: ServingParts = { surroundings, billing, usage, holder, leases, clock: () => Math.floor(time.nowMs()) };
  return {
    process,
    serveDelegated: (request) => serveDelegated(parts, request),
    serveKey: (key) => serveKey(parts, key),
    reconcile: relay.reconcile,
    recall: (leaseIds) => leases.recall(leaseIds),
    afterCrash: () => {
      for (const stop of stops) stop();
    },
  };
};

interface BillingCalls {
  readonly admit: (request: DelegatedAdmissionRequest) => Promise<Admission>;
  readonly askLeases: (holderId: string, asks: readonly LeaseAsk[]) => Promise<readonly LeaseAnswer[]>;
  readonly settle: (settlement: Settlement) => Promise<boolean>;
  readonly renewHolder: (holderId: string, renewal: object) => Promise<void>;
  readonly endHolder: (holderId: string) => Promise<void>;
}

const createBillingCalls = ({ name, surroundings, billing }: GatewayOptions): BillingCalls => {
  const ask: AskBilling = (timeoutMs, work) => {
    let taken: BillingProcess | undefined;
    const target = () => {
      taken = billing();
      return taken?.process;
    };
    const options = { from: name, to: 'billing', timeoutMs, target, mayRepeat: true };
    return surroundings.network.call(options, async () => (taken === undefined ? undefined : await work(taken)));
  };
  const counted = (operation: string, timeoutMs: number, work: (to: BillingProcess) => Promise<unknown>) =>
    ask(timeoutMs, (to) => {
      surroundings.count(operation);
      return work(to);
    });
  return {
    admit: async (request) => {
      // The handler answers by the contract of this route.
      const { decisions } = (await counted('admission', ADMISSION_TIMEOUT_MS, (to) =>
        to.call(internalRoutes.admitRequests, { body: { requests: [request] } }),
      )) as { readonly decisions: readonly (Admission | null)[] };
      const [decision = null] = decisions;
      if (decision === null) throw new Error('billing could not decide the request');
      return decision;
    },
    askLeases: async (holder_id, asks) => {
      // The handler answers by the contract of this route.
      const { answers } = (await counted('lease', ADMISSION_TIMEOUT_MS, (to) =>
        to.call(internalRoutes.askLeases, { body: { holder_id, asks } }),
      )) as { readonly answers: readonly LeaseAnswer[] };
      return answers;
    },
    settle: async (settlement) => {
      const body = { settlements: [settlement] };
      const report = counted('settlement', SETTLEMENT_TIMEOUT_MS, (to) =>
        to.call(internalRoutes.settleRequests, { body }),
      );
      return await report.then(
        () => true,
        () => false,
      );
    },
    renewHolder: async (holder_id, body) => {
      const input = { params: { holder_id }, body };
      await counted('renewal', HOLDER_TIMEOUT_MS, (to) => to.call(internalRoutes.renewHolder, input));
    },
    endHolder: async (holder_id) => {
      await ask(HOLDER_TIMEOUT_MS, (to) => to.call(internalRoutes.endHolder, { params: { holder_id } }));
    },
  };
};

interface ServingParts {
  readonly surroundings: Surroundings;
  readonly billing: BillingCalls;
  readonly usage: UsageWriter;
  readonly holder: ProcessLease;
  readonly leases: LeaseBook;
  readonly clock: () => number;
}

const INFERENCE_MEAN_MS = 150;
const LONG_INFERENCE = 0.02;
const LONG_INFERENCE_MS = 20_000;
const HOLD_MICROS = [20_000, 60_000] as const;

const serveDelegated = async (
  { surroundings, billing, usage, holder, clock }: ServingParts,
  { userId, clientId }: { readonly userId: string; readonly clientId: string },
): Promise<void> => {
  const { random } = surroundings;
  const holdMicros = random.integer(...HOLD_MICROS);
  const responseMemory = { checkRoom: () => undefined };
  const deps = { billing, usage, holder, clock, responseMemory, ingressRegion: 'local', manageUrl: 'https://svc.test' };
  const { book } = await admitDelegated(
    // Admission uses these members only.
    deps as unknown as DelegatedDeps,
    {
      requestId: newId('req'),
      // The token itself was checked before.
      caller: { kind: 'oauth_access_token', userId, clientId } as Parameters<typeof admitDelegated>[1]['caller'],
      service: 'chat',
      isStreamed: random.chance(0.5),
      estimateMicros: Math.floor(holdMicros / 2),
      holdMicros,
      ...(random.chance(0.3) ? { holdMinMicros: Math.floor(holdMicros / 4) } : {}),
      idempotencyKey: random.chance(0.05) ? `key-${random.integer(1, 20)}` : undefined,
    },
  );
  await infer({ surroundings, book, clock, holdMicros });
};

const serveKey = async ({ surroundings, usage, leases, clock }: ServingParts, key: SimulatedKey): Promise<void> => {
  const { random } = surroundings;
  const holdMicros = random.integer(...HOLD_MICROS);
  const estimateMicros = Math.floor(holdMicros / 3);
  const requestId = newId('req');
  const { userId, id: keyId, requestsPerMinute, monthlyLimitMicros } = key;
  const isStreamed = random.chance(0.5);
  const startedAtMs = clock();
  const decision = await leases.spend(
    { kind: 'api_key', userId, creatorId: userId, keyId, requestsPerMinute, monthlyLimitMicros },
    { requestId, micros: holdMicros, knownMicros: estimateMicros, tokens: 0, tokensLeast: 0 },
  );
  if (decision.verdict !== 'granted') return;
  const book = openRequestBook({
    identity: {
      requestId,
      kind: 'api_key',
      userId,
      clientId: null,
      keyId,
      service: 'chat',
      model: 'svc-chat',
      ingressRegion: 'local',
      isStreamed,
      startedAtMs,
    },
    spending: decision.spending,
    estimateMicros,
    usage,
    clock,
  });
  const began = clock();
  book.measureBy(() => Math.min(holdMicros, estimateMicros + (clock() - began) * 10));
  await infer({ surroundings, book, clock, holdMicros });
};

interface Inference {
  readonly surroundings: Surroundings;
  readonly book: RequestBook;
  readonly clock: () => number;
  readonly holdMicros: number;
}

/** Stands in for a provider: takes its time, and answers, fails or leaves the outcome unknown. */
const infer = async ({ surroundings, book, clock, holdMicros }: Inference): Promise<void> => {
  const { random } = surroundings;
  const lasts = random.chance(LONG_INFERENCE) ? LONG_INFERENCE_MS : random.around(INFERENCE_MEAN_MS);
  await new Promise((resolve) => {
    setTimeout(resolve, lasts);
  });
  if (random.chance(0.08)) return await book.finishFailed({ isUncertain: random.chance(0.5), status: 502 });
  // Usage beyond the hold happens if a provider counts differently.
  const costMicros = random.integer(1, random.chance(0.03) ? holdMicros * 3 : holdMicros);
  await book.finish({
    ...releasedEnd(200, clock()),
    outcome: 'settled',
    costMicros,
    inputTokens: 10,
    outputTokens: 20,
  });
};
