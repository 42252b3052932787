import {
  type Admission,
  type AdmissionRequest,
  internalRoutes,
  type RequestOutcome,
  type RouteDefinition,
} from '@svc/contracts';
import { AppError, type Logger } from '@svc/service-kit';
import { Agent } from 'undici';
import type { z } from 'zod';
import { collectBody, openUpstream } from './providers/index.ts';

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
/** More requests than these at one time wait for a connection. */
const CONNECTIONS_MAX = 128;
const ANSWER_BYTES_MAX = 1024 * 1024;
/** What billing says to nearly every request of an account without limits, word for word: nothing is to be parsed. */
const ADMITTED: Admission = { verdict: 'admitted' };
const ADMITTED_TEXT = JSON.stringify(ADMITTED);

/**
 * Creates the client of billing's internal routes. It stands on the same bare exchange as requests to providers, as every
 * request waits for it: the readable streams of an ordinary client would cost more than the rest of the admission.
 */
export const createBillingClient = (options: BillingClientOptions): BillingClient => {
  const { admissionTimeoutMs, logger } = options;
  const agent = new Agent({ connections: CONNECTIONS_MAX, pipelining: 1, connect: { timeout: admissionTimeoutMs } });
  const ask = createAsk(agent, options);
  return {
    admit: (request) =>
      ask(internalRoutes.admitRequest, {
        path: internalRoutes.admitRequest.path,
        body: request,
        requestId: request.request_id,
        timeoutMs: admissionTimeoutMs,
      })
        .then((text) => (text === ADMITTED_TEXT ? ADMITTED : parseAnswer(internalRoutes.admitRequest, text)))
        .catch(unavailable),
    settle: async (requestId, result) => {
      await ask(internalRoutes.settleRequests, {
        path: internalRoutes.settleRequests.path,
        body: { settlements: [{ request_id: requestId, result }] },
        requestId,
        timeoutMs: SETTLEMENT_TIMEOUT_MS,
      }).catch((error: unknown) =>
        logger.warn({ request_id: requestId, err: error }, 'billing was not told at once, the fact will tell it'),
      );
    },
    entitlements: async (userId, requestId) => {
      const path = internalRoutes.getEntitlements.path.replace('{svc_user_id}', encodeURIComponent(userId));
      const asked = ask(internalRoutes.getEntitlements, { path, requestId, timeoutMs: admissionTimeoutMs });
      return (await asked.then((text) => parseAnswer(internalRoutes.getEntitlements, text)).catch(unavailable))
        .services;
    },
    close: () => agent.destroy(),
  };
};

interface Call {
  readonly path: string;
  readonly body?: unknown;
  readonly requestId: string;
  readonly timeoutMs: number;
}

type CalledRoute = RouteDefinition & { readonly responses: { readonly 200: { readonly schema: z.ZodType } } };

/** Asks one route, and answers the text of its 200. Rejects with whatever else it was. */
const createAsk = (agent: Agent, { baseUrl, token }: BillingClientOptions) => {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/+$/, '');
  return async (route: RouteDefinition, input: Call): Promise<string> => {
    const limits = {
      firstByteTimeoutMs: input.timeoutMs,
      idleTimeoutMs: input.timeoutMs,
      totalTimeoutMs: input.timeoutMs,
    };
    const answer = await openUpstream(
      agent,
      {
        origin,
        method: route.method,
        path: `${basePath}${input.path}`,
        headers: {
          authorization: `Bearer ${token}`,
          'x-request-id': input.requestId,
          ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: input.body === undefined ? null : JSON.stringify(input.body),
      },
      limits,
    );
    const bytes = await collectBody(answer, ANSWER_BYTES_MAX);
    if (answer.status !== 200) throw new Error(`${route.operationId} was answered with status ${answer.status}`);
    return bytes.toString();
  };
};

const parseAnswer = <R extends CalledRoute>(route: R, text: string): z.output<R['responses'][200]['schema']> =>
  // The schema is the route's own; only its inference is lost on the way through the generic.
  route.responses[200].schema.parse(JSON.parse(text)) as z.output<R['responses'][200]['schema']>;

/** Whatever goes wrong between two of our services is ours to mend, and never free inference. */
const unavailable = (error: unknown): never => {
  throw new AppError('service_unavailable', undefined, { cause: error });
};
