import {
  type Admission,
  type AdmissionRequest,
  type HolderRenewal,
  internalRoutes,
  type KeySpending,
  type KeyStandingRequest,
  newId,
  type RequestOutcome,
  type RequestState,
} from '@svc/contracts';
import { AppError, createInternalClient, type Logger } from '@svc/service-kit';

/** Questions and reports to billing. */
export interface BillingClient {
  /** Asks whether money may be spent on a request. Throws `service_unavailable` if billing gives no decision. */
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
  /** Asks whether a key may spend anything now. Throws `service_unavailable` if billing gives no answer. */
  readonly keyStanding: (question: KeyStandingRequest, account: KeyAccount) => Promise<Admission>;
  /** Reads the spending of keys of one account. Throws `service_unavailable` if billing gives no answer. */
  readonly keySpending: (keyIds: readonly string[], account: KeyAccount) => Promise<KeySpending>;
  /** Reports an outcome ahead of its fact. Resolves within 300 ms, true if billing has taken it; never rejects. */
  readonly settle: (requestId: string, result: RequestOutcome) => Promise<boolean>;
  /** Reads the services of the user's paid period. Throws `service_unavailable` if billing gives no answer. */
  readonly entitlements: (userId: string, requestId: string) => Promise<PlanServices>;
  /** Reads the states of requests, in the given order; null for one that was never admitted. Throws AppError. */
  readonly requestStates: (
    requestIds: readonly string[],
    requestId: string,
  ) => Promise<readonly (RequestState | null)[]>;
  /** Renews the lease of this process, and reports what requests have cost so far. Throws AppError. */
  readonly renewHolder: (holderId: string, renewal: HolderRenewal) => Promise<void>;
  /** Ends the lease of this process. Throws AppError. */
  readonly endHolder: (holderId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The account of a key, and the request that names the call in logs. */
export interface KeyAccount {
  readonly userId: string;
  readonly requestId: string;
}

/** Services of a plan. */
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

/** The caller waits for this before it gets the end of its answer. */
const SETTLEMENT_TIMEOUT_MS = 300;

/** Leaves time for two more tries before a lease expires. */
const HOLDER_TIMEOUT_MS = 1_000;

/** Creates the client of billing's internal routes, over connections that it keeps. */
export const createBillingClient = (options: BillingClientOptions): BillingClient => {
  const { logger } = options;
  const client = createInternalClient({ ...options, timeoutMs: options.admissionTimeoutMs });
  return {
    admit: async (body) => {
      const call = client.call(internalRoutes.admitRequest, { body, requestId: body.request_id });
      return (await call.catch(failUnavailable)).body;
    },
    keyStanding: async (body, { userId, requestId }) => {
      const params = { svc_user_id: userId };
      const call = client.call(internalRoutes.readKeyStanding, { params, body, requestId });
      // A billing of the previous release has no such route: its admission alone decides.
      return await call.then((answer) => answer.body, admittedIfNotFound);
    },
    keySpending: async (keyIds, { userId, requestId }) => {
      const params = { svc_user_id: userId };
      const body = { key_ids: [...keyIds] };
      const call = client.call(internalRoutes.readKeySpending, { params, body, requestId });
      return (await call.catch(failUnavailable)).body;
    },
    settle: async (requestId, result) => {
      const body = { settlements: [{ request_id: requestId, result }] };
      const call = client.call(internalRoutes.settleRequests, { body, requestId, timeoutMs: SETTLEMENT_TIMEOUT_MS });
      return await call.then(
        () => true,
        (error: unknown) => {
          logger.warn({ request_id: requestId, err: error }, 'an outcome did not reach billing; its fact will');
          return false;
        },
      );
    },
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
    close: () => client.close(),
  };
};

const holderCall = () => ({ requestId: newId('req'), timeoutMs: HOLDER_TIMEOUT_MS });

const admittedIfNotFound = (error: unknown): Admission => {
  if (error instanceof AppError && error.code === 'not_found') return { verdict: 'admitted' };
  return failUnavailable(error);
};

/** A failure between two services is ours to mend: the caller may try again, and is never served for free. */
const failUnavailable = (error: unknown): never => {
  throw new AppError('service_unavailable', undefined, { cause: error });
};
