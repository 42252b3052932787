import {
  ADMISSIONS_MAX,
  type Admission,
  type AdmissionRequest,
  admissionLineSchema,
  internalRoutes,
  type RequestOutcome,
  type RouteDefinition,
} from '@svc/contracts';
import { AppError, type Logger } from '@svc/service-kit';
import { activeTracing, currentSpan, errorCodeOf, type TraceSpan, withinSpan } from '@svc/tracing';
import type { z } from 'zod';
import { createHttpClient, type HttpClient } from './http1/index.ts';
import { collectBody, openUpstream, type UpstreamAnswer } from './providers/index.ts';
import { shareCalls } from './share-calls.ts';

/** What the gateway asks of billing. */
export interface BillingClient {
  /** May money be spent on this request? Throws `service_unavailable` where billing does not say. */
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
  /** Tells how a request ended, ahead of the fact that tells it for certain: answers whether billing knows. Never rejects, never takes long. */
  readonly settle: (requestId: string, result: RequestOutcome) => Promise<boolean>;
  /** Services that the user's paid period includes. Throws `service_unavailable` where billing does not say. */
  readonly entitlements: (userId: string, requestId: string) => Promise<PlanServices>;
  readonly close: () => void;
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
/** Less than what billing's server keeps an idle connection. */
const KEEP_ALIVE_MS = 4_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
/** What billing says to nearly every request of an account without limits, word for word: nothing is to be parsed. */
const ADMITTED: Admission = { verdict: 'admitted' };
const ADMITTED_TEXT = JSON.stringify(ADMITTED);
const LINE_START = '{"place":';
const ADMITTED_LINE_END = `,"admission":${ADMITTED_TEXT}}`;

/**
 * Creates the client of billing's internal routes. It stands on the same bare exchange as requests to providers, as every
 * request waits for it: the readable streams of an ordinary client would cost more than the rest of the admission. Admissions
 * that come together share a call, which costs as much for many as for one.
 */
export const createBillingClient = (options: BillingClientOptions): BillingClient => {
  const { admissionTimeoutMs, logger } = options;
  const http = createHttpClient({
    connectTimeoutMs: admissionTimeoutMs,
    connectionsMax: CONNECTIONS_MAX,
    keepAliveMs: KEEP_ALIVE_MS,
    keepAliveMsMax: KEEP_ALIVE_MS,
  });
  const ask = createAsk(http, options);
  const admission = shareCalls<Asked>({
    membersMax: ADMISSIONS_MAX,
    // Told in the trace of the first: whoever woke the sharing is nobody in particular.
    make: (asked) => withinSpan(asked[0]?.span, () => admitTogether(ask, asked, admissionTimeoutMs)),
  });
  return {
    admit: (request) =>
      new Promise((resolve, reject) => {
        const isTaken = admission({ request, resolve, reject, askedAtMs: performance.now(), span: currentSpan() });
        if (!isTaken) reject(unavailable(new Error('too many admissions wait')));
      }),
    settle: async (requestId, result) => {
      const asked = ask(internalRoutes.settleRequests, {
        path: internalRoutes.settleRequests.path,
        body: { settlements: [{ request_id: requestId, result }] },
        requestId,
        timeoutMs: SETTLEMENT_TIMEOUT_MS,
      });
      return await asked.then(readText).then(
        () => true,
        (error: unknown) => {
          logger.warn({ request_id: requestId, err: error }, 'billing was not told at once, the fact will tell it');
          return false;
        },
      );
    },
    entitlements: async (userId, requestId) => {
      const path = internalRoutes.getEntitlements.path.replace('{svc_user_id}', encodeURIComponent(userId));
      const asked = ask(internalRoutes.getEntitlements, { path, requestId, timeoutMs: admissionTimeoutMs });
      const answer = asked.then(readText).then((text) => parseAnswer(internalRoutes.getEntitlements, text));
      return (await answer.catch(failUnavailable)).services;
    },
    close: http.close,
  };
};

interface Call {
  readonly path: string;
  readonly body?: unknown;
  readonly requestId: string;
  readonly timeoutMs: number;
}

type Ask = (route: RouteDefinition, input: Call) => Promise<UpstreamAnswer>;

type CalledRoute = RouteDefinition & { readonly responses: { readonly 200: { readonly schema: z.ZodType } } };

/** Asks one route, and answers its 200 with the body unread. Rejects with whatever else it was. */
const createAsk = (http: HttpClient, { baseUrl, token }: BillingClientOptions): Ask => {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/+$/, '');
  return async (route, input) => {
    const limits = {
      firstByteTimeoutMs: input.timeoutMs,
      idleTimeoutMs: input.timeoutMs,
      totalTimeoutMs: input.timeoutMs,
    };
    const span = currentSpan() === undefined ? undefined : beginCall(route);
    const request = {
      origin,
      method: route.method,
      path: `${basePath}${input.path}`,
      headers: {
        authorization: `Bearer ${token}`,
        'x-request-id': input.requestId,
        ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(span === undefined ? {} : { traceparent: span.traceparent }),
      },
      body: input.body === undefined ? null : JSON.stringify(input.body),
    };
    const asked = openUpstream(http, request, limits);
    const answer = await (span === undefined ? asked : endWith(span, asked));
    if (answer.status === 200) return answer;
    await readText(answer);
    throw new UnexpectedStatus(route.operationId, answer.status);
  };
};

/** The step until the head of billing's answer. */
const beginCall = ({ operationId, method, path }: RouteDefinition): TraceSpan | undefined =>
  activeTracing()?.begin({
    name: operationId,
    kind: 'client',
    attributes: { 'svc.operation': operationId, 'http.request.method': method, 'http.route': path },
  });

const endWith = async (span: TraceSpan, asked: Promise<UpstreamAnswer>): Promise<UpstreamAnswer> => {
  try {
    const answer = await asked;
    span.add({ 'http.response.status_code': answer.status });
    span.end();
    return answer;
  } catch (error) {
    span.end(errorCodeOf(error));
    throw error;
  }
};

/** Billing answered, but not what was asked for. */
class UnexpectedStatus extends Error {
  override readonly name = 'UnexpectedStatus';
  readonly status: number;

  constructor(operationId: string, status: number) {
    super(`${operationId} was answered with status ${status}`);
    this.status = status;
  }
}

const readText = async (answer: UpstreamAnswer): Promise<string> =>
  (await collectBody(answer, ANSWER_BYTES_MAX)).toString();

const parseAnswer = <R extends CalledRoute>(route: R, text: string): z.output<R['responses'][200]['schema']> =>
  // The schema is the route's own; only its inference is lost on the way through the generic.
  route.responses[200].schema.parse(JSON.parse(text)) as z.output<R['responses'][200]['schema']>;

/** Whatever goes wrong between two of our services is ours to mend, and never free inference. */
const unavailable = (cause: unknown): AppError => new AppError('service_unavailable', undefined, { cause });

const failUnavailable = (error: unknown): never => {
  throw unavailable(error);
};

/** A question to billing, and who waits for the decision. */
interface Asked {
  readonly request: AdmissionRequest;
  readonly resolve: (admission: Admission) => void;
  readonly reject: (error: AppError) => void;
  /** Milliseconds of the monotonic clock. */
  readonly askedAtMs: number;
  readonly span: TraceSpan | undefined;
}

/** Asks for all in one call. Each is answered as soon as its own decision is there; those without one are refused. */
const admitTogether = async (ask: Ask, asked: readonly Asked[], admissionTimeoutMs: number): Promise<void> => {
  const [first] = asked;
  if (first === undefined) return;
  const open = new Map(asked.entries());
  const decide = (place: number, admission: Admission): void => {
    open.get(place)?.resolve(admission);
    open.delete(place);
  };
  try {
    // None waits longer than the first, and the first no longer than it may.
    const timeoutMs = Math.ceil(admissionTimeoutMs - (performance.now() - first.askedAtMs));
    if (timeoutMs <= 0) throw new Error('too many admissions wait');
    const call = { requestId: first.request.request_id, timeoutMs };
    const answer = asked.length === 1 ? undefined : await askTogether(ask, call, asked);
    if (answer !== undefined) await readDecisions(answer, decide);
    else
      await Promise.allSettled(
        asked.map(async ({ request }, place) => decide(place, await admitAlone(ask, call, request))),
      );
    if (open.size > 0) throw new Error('billing did not decide');
  } catch (error) {
    for (const { reject } of open.values()) reject(unavailable(error));
  }
};

/** The decisions on all, to be read; undefined where billing is of a release that takes questions one by one only. */
const askTogether = async (
  ask: Ask,
  call: Pick<Call, 'requestId' | 'timeoutMs'>,
  asked: readonly Asked[],
): Promise<UpstreamAnswer | undefined> => {
  const { path } = internalRoutes.admitRequests;
  const body = { admissions: asked.map(({ request }) => request) };
  try {
    return await ask(internalRoutes.admitRequests, { ...call, path, body });
  } catch (error) {
    if (error instanceof UnexpectedStatus && error.status === 404) return undefined;
    throw error;
  }
};

const admitAlone = async (
  ask: Ask,
  call: Pick<Call, 'requestId' | 'timeoutMs'>,
  body: AdmissionRequest,
): Promise<Admission> => {
  const { path } = internalRoutes.admitRequest;
  const text = await readText(await ask(internalRoutes.admitRequest, { ...call, path, body }));
  return text === ADMITTED_TEXT ? ADMITTED : parseAnswer(internalRoutes.admitRequest, text);
};

/** Reads decisions line by line, as they are made. Rejects where a line is none, or the call breaks off. */
const readDecisions = (answer: UpstreamAnswer, decide: (place: number, admission: Admission) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    let rest = '';
    const take = (chunk: Buffer): void => {
      const lines = `${rest}${chunk.toString()}`.split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > ANSWER_BYTES_MAX) throw new Error('a line is too long');
      for (const line of lines) takeDecision(line, decide);
    };
    answer.read({
      onData: (chunk) => {
        try {
          take(chunk);
        } catch (error) {
          answer.abort();
          reject(error);
        }
      },
      onEnd: resolve,
      onFailure: reject,
    });
  });

const takeDecision = (line: string, decide: (place: number, admission: Admission) => void): void => {
  if (line.endsWith(ADMITTED_LINE_END)) {
    decide(Number.parseInt(line.slice(LINE_START.length), 10), ADMITTED);
    return;
  }
  const { place, admission } = admissionLineSchema.parse(JSON.parse(line));
  if (admission !== undefined) decide(place, admission);
};
