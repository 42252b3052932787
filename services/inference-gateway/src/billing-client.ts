import { type Admission, type AdmissionRequest, internalRoutes, type RequestOutcome } from '@svc/contracts';
import { AppError, createInternalClient, type Logger } from '@svc/service-kit';

/** What the gateway asks of billing. */
export interface BillingClient {
  /** May money be spent on this request? Throws `service_unavailable` where billing does not say. */
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
  /** Tells how a request ended, ahead of the fact that tells it for certain. Never throws and never takes long. */
  readonly settle: (requestId: string, result: RequestOutcome) => Promise<void>;
  /** Services that the user's paid period includes. Throws `service_unavailable` where billing does not say. */
  readonly entitlements: (userId: string, requestId: string) => Promise<PlanServices>;
  readonly close: () => Promise<void>;
}

/** Services of a plan. */
export interface PlanServices {
  readonly chat: boolean;
  readonly audio_transcription: boolean;
}

/** How billing is reached. */
export interface BillingClientOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly admissionTimeoutMs: number;
  readonly logger: Logger;
}

/** The caller waits for this before it sees the end of its answer. */
const SETTLEMENT_TIMEOUT_MS = 300;

/** Creates the client of billing's internal routes. */
export const createBillingClient = (options: BillingClientOptions): BillingClient => {
  const { baseUrl, token, admissionTimeoutMs, logger } = options;
  const client = createInternalClient({ baseUrl, token, timeoutMs: admissionTimeoutMs });
  return {
    admit: async (request) => {
      const { body } = await client
        .call(internalRoutes.admitRequest, { body: request, requestId: request.request_id })
        .catch(unavailable);
      return body;
    },
    settle: async (requestId, result) => {
      const body = { settlements: [{ request_id: requestId, result }] };
      await client
        .call(internalRoutes.settleRequests, { body, requestId, timeoutMs: SETTLEMENT_TIMEOUT_MS })
        .catch((error: unknown) =>
          logger.warn({ request_id: requestId, err: error }, 'billing was not told at once, the fact will tell it'),
        );
    },
    entitlements: async (userId, requestId) => {
      const { body } = await client
        .call(internalRoutes.getEntitlements, { params: { svc_user_id: userId }, requestId })
        .catch(unavailable);
      return body.services;
    },
    close: () => client.close(),
  };
};

/** Whatever goes wrong between two of our services is ours to mend, and never free inference. */
const unavailable = (error: unknown): never => {
  throw new AppError('service_unavailable', undefined, { cause: error });
};
