import { setTimeout as sleep } from 'node:timers/promises';
import {
  ADMISSIONS_MAX,
  type Admission,
  type DelegatedAdmissionRequest,
  type HolderRenewal,
  internalRoutes,
  type KeyReceiptRequest,
  type KeySpending,
  type LeaseAnswer,
  type LeaseAsk,
  newId,
  type RequestState,
  type SettlementsRequest,
} from '@svc/contracts';
import { AppError, batchCalls, createInternalClient, type InternalClient, type Logger } from '@svc/service-kit';

/** Client of billing's internal routes. */
export interface BillingClient {
  /** Asks billing to admit a request. Throws `service_unavailable` if billing returns no decision. */
  readonly admit: (request: DelegatedAdmissionRequest) => Promise<Admission>;
  /** Reports leases of API keys and asks for their requests. Returns the responses in their order. Throws AppError. */
  readonly askLeases: (holderId: string, asks: readonly LeaseAsk[]) => Promise<readonly LeaseAnswer[]>;
  /** Reads the spending of keys of one account. Throws `service_unavailable` if billing does not respond. */
  readonly keySpending: (keyIds: readonly string[], account: KeyAccount) => Promise<KeySpending>;
  /** Reports an outcome ahead of its fact. Resolves within the timeout, with true on success; never rejects. */
  readonly settle: (settlement: Settlement) => Promise<boolean>;
  /** Reads the services of the user's paid period. Throws `service_unavailable` if billing does not respond. */
  readonly entitlements: (userId: string, requestId: string) => Promise<PlanServices>;
  /** Reads the states of an account's API-key requests in the given order; null for one that has not ended. Throws AppError. */
  readonly requestStates: (
    requestIds: readonly string[],
    account: KeyAccount,
  ) => Promise<readonly (RequestState | null)[]>;
  /** Renews the lease of this process. Throws AppError. */
  readonly renewHolder: (holderId: string, renewal: HolderRenewal) => Promise<void>;
  /** Ends the lease of this process. Throws AppError. */
  readonly endHolder: (holderId: string) => Promise<void>;
  /** Signs the receipt of an API-key request. Throws `not_found`, `not_settled` or `service_unavailable`. */
  readonly signReceipt: (request: KeyReceiptRequest) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** The account of a key, and the request id used in logs. */
export interface KeyAccount {
  readonly userId: string;
  readonly requestId: string;
}

export type Settlement = SettlementsRequest['settlements'][number];

export interface PlanServices {
  readonly chat: boolean;
  readonly audio_transcription: boolean;
}

export interface BillingClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly admissionTimeoutMs: number;
  readonly logger: Logger;
}

/** Delays the last byte of a response by at most this long. */
const SETTLEMENT_TIMEOUT_MS = 300;

/**
 * Concurrent calls of one kind. Requests of the same turn of the event loop share a call, which spreads its cost. Billing
 * leaves an account whose row is locked undecided, so that it delays no other.
 */
const CALLS_MAX = 4;
const WAITING_MAX = 5_000;
/** Waiting admissions of one account, so that a flood on it leaves room for the others. */
const WAITING_PER_ACCOUNT_MAX = 500;

/** Pauses before billing is asked again about a request that it left undecided, because its account was locked. */
const RETRY_MS_MIN = 5;
const RETRY_MS_MAX = 200;

/** Leaves time for two retries before the lease expires. */
const HOLDER_TIMEOUT_MS = 1_000;

/** Creates a client with persistent connections. */
export const createBillingClient = (options: BillingClientOptions): BillingClient => {
  const client = createInternalClient({ ...options, timeoutMs: options.admissionTimeoutMs });
  const settle = batchSettlements(client, options.logger);
  return {
    admit: batchAdmissions(client, options.admissionTimeoutMs),
    askLeases: async (holder_id, asks) =>
      (await client.call(internalRoutes.askLeases, { body: { holder_id, asks: [...asks] } })).body.answers,
    keySpending: async (keyIds, { userId, requestId }) => {
      const params = { svc_user_id: userId };
      const body = { key_ids: [...keyIds] };
      const call = client.call(internalRoutes.readKeySpending, { params, body, requestId });
      return (await call.catch(failUnavailable)).body;
    },
    settle,
    entitlements: async (userId, requestId) => {
      const params = { svc_user_id: userId };
      const call = client.call(internalRoutes.getEntitlements, { params, requestId });
      return (await call.catch(failUnavailable)).body.services;
    },
    requestStates: async (requestIds, { userId, requestId }) => {
      const body = { svc_user_id: userId, request_ids: [...requestIds] };
      return (await client.call(internalRoutes.readRequestStates, { body, requestId })).body.states;
    },
    renewHolder: async (holder_id, body) => {
      await client.call(internalRoutes.renewHolder, { params: { holder_id }, body, ...holderCall() });
    },
    endHolder: async (holder_id) => {
      await client.call(internalRoutes.endHolder, { params: { holder_id }, ...holderCall() });
    },
    signReceipt: async (body) => {
      const call = client.call(internalRoutes.signKeyReceipt, { body });
      return (await call.catch(keepReceiptRefusal)).body.receipt;
    },
    close: () => client.close(),
  };
};

const batchAdmissions = (client: InternalClient, deadlineMs: number): BillingClient['admit'] => {
  const admit = batchCalls<DelegatedAdmissionRequest, Admission | null>({
    run: async (requests) => {
      const requestId = requests[0]?.request_id ?? newId('req');
      const call = client.call(internalRoutes.admitRequests, { body: { requests: [...requests] }, requestId });
      return (await call).body.decisions;
    },
    keyOf: ({ svc_user_id }) => svc_user_id,
    callsMax: ADMISSIONS_MAX,
    batchesMax: CALLS_MAX,
    waitingMax: WAITING_MAX,
    waitingPerKeyMax: WAITING_PER_ACCOUNT_MAX,
    deadlineMs,
  });
  return async (request) => {
    const untilMs = performance.now() + deadlineMs;
    for (let delayMs = RETRY_MS_MIN; ; delayMs = Math.min(delayMs * 2, RETRY_MS_MAX)) {
      const decision = await admit(request).catch(failUnavailable);
      if (decision !== null) return decision;
      if (performance.now() >= untilMs) return failUnavailable(new Error('billing could not decide the request'));
      await sleep(delayMs);
    }
  };
};

const batchSettlements = (client: InternalClient, logger: Logger): ((settlement: Settlement) => Promise<boolean>) => {
  const report = batchCalls<Settlement, boolean>({
    run: async (settlements) => {
      const requestId = settlements[0]?.request_id ?? newId('req');
      const body = { settlements: [...settlements] };
      await client.call(internalRoutes.settleRequests, { body, requestId, timeoutMs: SETTLEMENT_TIMEOUT_MS });
      return settlements.map(() => true);
    },
    keyOf: ({ request_id }) => request_id,
    callsMax: ADMISSIONS_MAX,
    batchesMax: CALLS_MAX,
    waitingMax: WAITING_MAX,
    deadlineMs: SETTLEMENT_TIMEOUT_MS,
  });
  return (settlement) =>
    report(settlement).catch((error: unknown) => {
      const fields = { request_id: settlement.request_id, err: error };
      logger.warn(fields, 'could not report an outcome to billing directly; its fact will');
      return false;
    });
};

const holderCall = () => ({ requestId: newId('req'), timeoutMs: HOLDER_TIMEOUT_MS });

const keepReceiptRefusal = (error: unknown): never => {
  if (error instanceof AppError && (error.code === 'not_found' || error.code === 'not_settled')) {
    throw new AppError(error.code, undefined, { headers: error.headers });
  }
  return failUnavailable(error);
};

/** Maps a failure between our services to a retryable error. The request is refused rather than served for free. */
const failUnavailable = (error: unknown): never => {
  throw new AppError('service_unavailable', undefined, { cause: error, headers: { 'retry-after': '1' } });
};
