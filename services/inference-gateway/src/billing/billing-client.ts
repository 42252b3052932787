import {
  ADMISSIONS_MAX,
  type Admission,
  type AdmissionRequest,
  type AdmissionsCall,
  admissionChannel,
  admissionLineSchema,
  internalRoutes,
  type KeyStandingRequest,
  type RequestOutcome,
  type RequestState,
  type RouteDefinition,
} from '@svc/contracts';
import { AppError, ChannelRefused, createLineClient, type LineClient, type Logger } from '@svc/service-kit';
import { activeTracing, currentSpan, errorCodeOf, type TraceSpan, withinSpan } from '@svc/tracing';
import type { z } from 'zod';
import { createHttpClient, type HttpClient } from '../http1/index.ts';
import { collectBody, openUpstream, type UpstreamAnswer } from '../providers/index.ts';
import { shareCalls } from './share-calls.ts';

/** What the gateway asks of billing. */
export interface BillingClient {
  /** May money be spent on this request? Throws `service_unavailable` where billing does not say. */
  readonly admit: (request: AdmissionRequest) => Promise<Admission>;
  /** Whether a key may spend anything now. Throws `service_unavailable` where billing does not say. */
  readonly keyStanding: (question: KeyStandingRequest, account: KeyAccount) => Promise<Admission>;
  /** Tells how a request ended, ahead of the fact that tells it for certain: answers whether billing knows. Never rejects, never takes long. */
  readonly settle: (requestId: string, result: RequestOutcome) => Promise<boolean>;
  /** Services that the user's paid period includes. Throws `service_unavailable` where billing does not say. */
  readonly entitlements: (userId: string, requestId: string) => Promise<PlanServices>;
  /** How requests stand in the books, in the given order; null for those that billing has never admitted. Rejects where billing does not say. */
  readonly requestStates: (
    requestIds: readonly string[],
    requestId: string,
  ) => Promise<readonly (RequestState | null)[]>;
  readonly close: () => void;
}

/** Whose key it is, and the request that names the call in logs. */
export interface KeyAccount {
  readonly userId: string;
  readonly requestId: string;
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
const LINE_START = '{"place":';
const ADMITTED_LINE_END = `,"admission":${JSON.stringify(ADMITTED)}}`;
/** For so long after a billing that opens no channel was met, admissions are asked for one by one. */
const NO_CHANNEL_MS = 10_000;

/**
 * Creates the client of billing. Admissions, for which every request waits, go over a channel, and those that come together share
 * a call, which costs as much for many as for one. The rest stands on the same bare exchange as requests to providers: the readable
 * streams of an ordinary client would cost more than what they carry.
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
  const client = createLineClient({ ...options, ...admissionChannel });
  const ways: Ways = { askMany: createAskMany(client), askOne: createAskOne(ask) };
  const admission = shareCalls<Asked>({
    membersMax: ADMISSIONS_MAX,
    // Told in the trace of the first: whoever woke the sharing is nobody in particular.
    make: (asked) => withinSpan(asked[0]?.span, () => admitTogether(ways, asked, admissionTimeoutMs)),
  });
  return {
    admit: (request) =>
      new Promise((resolve, reject) => {
        const isTaken = admission({ request, resolve, reject, askedAtMs: performance.now(), span: currentSpan() });
        if (!isTaken) reject(unavailable(new Error('too many admissions wait')));
      }),
    keyStanding: async (body, { userId, requestId }) => {
      const path = internalRoutes.readKeyStanding.path.replace('{svc_user_id}', encodeURIComponent(userId));
      const call = { path, body, requestId, timeoutMs: admissionTimeoutMs };
      const answer = ask(internalRoutes.readKeyStanding, call).then(readText);
      return await answer
        .then((text) => parseAnswer(internalRoutes.readKeyStanding, text))
        .catch((error: unknown) => {
          // A billing of the release before has no such route: its admission alone decides.
          if (error instanceof CallRefused && error.status === 404) return ADMITTED;
          throw unavailable(error);
        });
    },
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
    requestStates: async (requestIds, requestId) => {
      const { path } = internalRoutes.readRequestStates;
      const call = { path, body: { request_ids: requestIds }, requestId, timeoutMs: admissionTimeoutMs };
      const text = await readText(await ask(internalRoutes.readRequestStates, call));
      return parseAnswer(internalRoutes.readRequestStates, text).states;
    },
    close: () => {
      client.close();
      http.close();
    },
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

/** Billing answered a call with another status than 200. */
class CallRefused extends Error {
  readonly status: number;

  constructor(operationId: string, status: number) {
    super(`${operationId} was answered with status ${status}`);
    this.status = status;
  }
}

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
    throw new CallRefused(route.operationId, answer.status);
  };
};

/** The step until the head of billing's answer. */
const beginCall = ({ operationId, method, path }: CalledName): TraceSpan | undefined =>
  activeTracing()?.begin({
    name: operationId,
    kind: 'client',
    attributes: { 'svc.operation': operationId, 'http.request.method': method, 'http.route': path },
  });

type CalledName = Pick<RouteDefinition, 'operationId' | 'path'> & { readonly method?: string };

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

/** Tells a decision, by the place of its question. */
type Decide = (place: number, admission: Admission) => void;

/** A call that is made for several. */
interface SharedCall {
  readonly asked: readonly Asked[];
  readonly timeoutMs: number;
  readonly decide: Decide;
}

/** How billing is asked. */
interface Ways {
  /** Over a channel; false where billing is of a release that opens none. */
  readonly askMany: (call: SharedCall) => Promise<boolean>;
  readonly askOne: (request: AdmissionRequest, timeoutMs: number) => Promise<Admission>;
}

/** Asks for all in one call. Each is answered as soon as its own decision is there; those without one are refused. */
const admitTogether = async (
  { askMany, askOne }: Ways,
  asked: readonly Asked[],
  admissionTimeoutMs: number,
): Promise<void> => {
  const [first] = asked;
  if (first === undefined) return;
  const open = new Map(asked.entries());
  const decide: Decide = (place, admission) => {
    open.get(place)?.resolve(admission);
    open.delete(place);
  };
  try {
    // None waits longer than the first, and the first no longer than it may.
    const timeoutMs = Math.ceil(admissionTimeoutMs - (performance.now() - first.askedAtMs));
    if (timeoutMs <= 0) throw new Error('too many admissions wait');
    const isAnswered = await askMany({ asked, timeoutMs, decide });
    if (!isAnswered) {
      await Promise.allSettled(
        asked.map(async ({ request }, place) => decide(place, await askOne(request, timeoutMs))),
      );
    }
    if (open.size > 0) throw new Error('billing did not decide');
  } catch (error) {
    for (const { reject } of open.values()) reject(unavailable(error));
  }
};

const createAskMany = (client: LineClient): Ways['askMany'] => {
  let noChannelUntilMs = Number.NEGATIVE_INFINITY;
  return async (call) => {
    if (performance.now() < noChannelUntilMs) return false;
    const span = currentSpan() === undefined ? undefined : beginCall(admissionChannel);
    try {
      await askOverChannel(client, call, span?.traceparent);
      span?.end();
      return true;
    } catch (error) {
      span?.end(errorCodeOf(error));
      if (!(error instanceof ChannelRefused) || error.status !== 404) throw error;
      noChannelUntilMs = performance.now() + NO_CHANNEL_MS;
      return false;
    }
  };
};

const askOverChannel = async (
  client: LineClient,
  { asked, timeoutMs, decide }: SharedCall,
  traceparent: string | undefined,
): Promise<void> => {
  const call: AdmissionsCall = {
    request_id: asked[0]?.request.request_id ?? '',
    traceparent,
    admissions: asked.map(({ request }) => request),
  };
  let left = asked.length;
  let failure: string | undefined;
  await client.ask({
    line: JSON.stringify(call),
    timeoutMs,
    onLine: (line) => {
      failure = takeLine(line, decide);
      left -= 1;
      return left === 0 || failure !== undefined;
    },
  });
  if (failure !== undefined) throw new Error(`billing did not decide: ${failure}`);
};

/** Tells the decision in a line. Answers the error instead, where it is one of the whole call. */
const takeLine = (line: string, decide: Decide): string | undefined => {
  if (line.endsWith(ADMITTED_LINE_END)) {
    decide(Number.parseInt(line.slice(LINE_START.length), 10), ADMITTED);
    return undefined;
  }
  const { place, admission, error } = admissionLineSchema.parse(JSON.parse(line));
  if (place === undefined) return error ?? 'unknown';
  if (admission !== undefined) decide(place, admission);
  return undefined;
};

const createAskOne =
  (ask: Ask): Ways['askOne'] =>
  async (body, timeoutMs) => {
    const { path } = internalRoutes.admitRequest;
    const call = { requestId: body.request_id, timeoutMs, path, body };
    return parseAnswer(internalRoutes.admitRequest, await readText(await ask(internalRoutes.admitRequest, call)));
  };
