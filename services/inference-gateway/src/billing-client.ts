import {
  ADMISSIONS_MAX,
  type Admission,
  type AdmissionRequest,
  type HolderRenewal,
  internalRoutes,
  type KeySpending,
  type KeyStandingRequest,
  newId,
  type RequestOutcome,
  type RequestState,
  type SettlementsRequest,
} from '@svc/contracts';
import { AppError, batchCalls, createInternalClient, type InternalClient, type Logger } from '@svc/service-kit';

/** Client of billing's internal routes. */
export interface BillingClient {
  /** Asks billing to admit a request. Throws `service_unavailable` if billing returns no decision. */
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
  /** Asks billing if a key can spend anything now. Throws `service_unavailable` if billing does not respond. */
  readonly keyStanding: (request: KeyStandingRequest, account: KeyAccount) => Promise<Admission>;
  /** Reads the spending of keys of one account. Throws `service_unavailable` if billing does not respond. */
  readonly keySpending: (keyIds: readonly string[], account: KeyAccount) => Promise<KeySpending>;
  /** Reports an outcome ahead of its fact. Resolves within the timeout, with true on success; never rejects. */
  readonly settle: (requestId: string, result: RequestOutcome) => Promise<boolean>;
  /** Reads the services of the user's paid period. Throws `service_unavailable` if billing does not respond. */
  readonly entitlements: (userId: string, requestId: string) => Promise<PlanServices>;
  /** Reads the states of requests in the given order; null for a request that was never admitted. Throws AppError. */
  readonly requestStates: (
    requestIds: readonly string[],
    requestId: string,
  ) => Promise<readonly (RequestState | null)[]>;
  /** Renews the lease of this process and reports the cost so far of its requests. Throws AppError. */
  readonly renewHolder: (holderId: string, renewal: HolderRenewal) => Promise<void>;
  /** Ends the lease of this process. Throws AppError. */
  readonly endHolder: (holderId: string) => Promise<void>;
  /** Signs the receipt of an API-key request. Throws `not_found`, `not_settled` or `service_unavailable`. */
  readonly signReceipt: (owner: ReceiptOwner, requestId: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** An account, and optionally the only key whose requests may be read. */
export interface ReceiptOwner {
  readonly userId: string;
  readonly keyId: string | null;
}

/** The account of a key, and the request id used in logs. */
export interface KeyAccount {
  readonly userId: string;
  readonly requestId: string;
}

type Settlement = SettlementsRequest['settlements'][number];

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

/** Delays the last byte of an answer by at most this long. */
const SETTLEMENT_TIMEOUT_MS = 300;

/**
 * Concurrent calls of one kind. Requests of the same turn of the event loop share a call, which spreads its cost. An
 * account whose rows are locked delays only the requests in its own batch.
 */
const CALLS_MAX = 4;
const WAITING_MAX = 5_000;

/** Leaves time for two retries before the lease expires. */
const HOLDER_TIMEOUT_MS = 1_000;

/** Creates a client with persistent connections. */
export const createBillingClient = (options: BillingClientOptions): BillingClient => {
  const client = createInternalClient({ ...options, timeoutMs: options.admissionTimeoutMs });
  const settle = batchSettlements(client, options.logger);
  return {
    admit: batchAdmissions(client),
    keyStanding: async (body, { userId, requestId }) => {
      const params = { svc_user_id: userId };
      const call = client.call(internalRoutes.readKeyStanding, { params, body, requestId });
      // Billing's previous release lacks this route. The admission decides anyway.
      return await call.then((answer) => answer.body, admittedIfNotFound);
    },
    keySpending: async (keyIds, { userId, requestId }) => {
      const params = { svc_user_id: userId };
      const body = { key_ids: [...keyIds] };
      const call = client.call(internalRoutes.readKeySpending, { params, body, requestId });
      return (await call.catch(failUnavailable)).body;
    },
    settle: (requestId, result) => settle({ request_id: requestId, result }),
    entitlements: async (userId, requestId) => {
      const params = { svc_user_id: userId };
      const call = client.call(internalRoutes.getEntitlements, { params, requestId });
      return (await call.catch(failUnavailable)).body.services;
    },
    requestStates: async (requestIds, requestId) => {
      const body = { request_ids: [...requestIds] };
      return (await client.call(internalRoutes.readRequestStates, { body, requestId })).body.states;
    },
    renewHolder: async (holder_id, body) => {
      await client.call(internalRoutes.renewHolder, { params: { holder_id }, body, ...holderCall() });
    },
    endHolder: async (holder_id) => {
      await client.call(internalRoutes.endHolder, { params: { holder_id }, ...holderCall() });
    },
    signReceipt: async ({ userId, keyId }, requestId) => {
      const body = { request_id: requestId, svc_user_id: userId, key_id: keyId };
      const call = client.call(internalRoutes.signKeyReceipt, { body });
      return (await call.catch(keepReceiptRefusal)).body.receipt;
    },
    close: () => client.close(),
  };
};

const batchAdmissions = (client: InternalClient): BillingClient['admit'] => {
  const admit = batchCalls<AdmissionRequest, Admission | null>({
    run: async (requests) => {
      const requestId = requests[0]?.request_id ?? newId('req');
      const call = client.call(internalRoutes.admitRequests, { body: { requests: [...requests] }, requestId });
      return (await call.catch(admitOneByOne(client, requests))).body.decisions;
    },
    keyOf: ({ svc_user_id }) => svc_user_id,
    callsMax: ADMISSIONS_MAX,
    batchesMax: CALLS_MAX,
    waitingMax: WAITING_MAX,
  });
  return async (request) => {
    const decision = await admit(request).catch(failUnavailable);
    return decision ?? failUnavailable(new Error('billing could not decide the request'));
  };
};

/** Falls back to single admissions if billing's previous release lacks the batch route. */
const admitOneByOne = (client: InternalClient, requests: readonly AdmissionRequest[]) => async (error: unknown) => {
  if (!isNotFound(error)) throw error;
  const decisions = await Promise.all(
    requests.map(async (body) => {
      const call = client.call(internalRoutes.admitRequest, { body, requestId: body.request_id });
      return await call.then(
        (answer) => answer.body,
        () => null,
      );
    }),
  );
  return { body: { decisions } };
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
  });
  return (settlement) =>
    report(settlement).catch((error: unknown) => {
      const fields = { request_id: settlement.request_id, err: error };
      logger.warn(fields, 'could not report an outcome to billing directly; its fact will');
      return false;
    });
};

const isNotFound = (error: unknown): boolean => error instanceof AppError && error.code === 'not_found';

const holderCall = () => ({ requestId: newId('req'), timeoutMs: HOLDER_TIMEOUT_MS });

const admittedIfNotFound = (error: unknown): Admission => {
  if (isNotFound(error)) return { verdict: 'admitted' };
  return failUnavailable(error);
};

const keepReceiptRefusal = (error: unknown): never => {
  if (error instanceof AppError && (error.code === 'not_found' || error.code === 'not_settled')) {
    throw new AppError(error.code);
  }
  return failUnavailable(error);
};

/** Maps a failure between our services to a retryable error. The request is refused rather than served for free. */
const failUnavailable = (error: unknown): never => {
  throw new AppError('service_unavailable', undefined, { cause: error });
};
