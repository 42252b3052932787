import { errorCodes, INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import { type ApiKeyCaller, AppError } from '@svc/service-kit';
import {
  affordableOutput,
  canBeFitted,
  costSoFar,
  FITTED_TOKENS_MIN,
  type HeldRequest,
  holdOf,
  holdTokens,
  NO_RETRY,
  requireRoom,
} from '../forwarding/index.ts';
import type { KeyLimitStates, LeaseRefusal } from '../leases/index.ts';
import type { TokenRoute } from '../provider-routes/index.ts';
import { openRequestBook, type RequestBook, type RequestIdentity } from '../usage-records/index.ts';
import { EMBEDDINGS_RESPONSE_BYTES_MAX } from './embeddings/embeddings-shape.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';

type LimitState = KeyLimitStates['requests'];

/** Returns the state of the key's rate limits in the headers of the common wire format; none without limits. */
const rateLimitHeaders = ({ requests, tokens }: KeyLimitStates): Readonly<Record<string, string>> => ({
  ...limitHeaders('requests', requests),
  ...limitHeaders('tokens', tokens),
});

const limitHeaders = (unit: 'requests' | 'tokens', state: LimitState): Readonly<Record<string, string>> =>
  state === undefined
    ? {}
    : {
        [`x-ratelimit-limit-${unit}`]: String(state.limit),
        [`x-ratelimit-remaining-${unit}`]: String(state.remaining),
        [`x-ratelimit-reset-${unit}`]: `${state.reset_ms / 1000}s`,
      };

/** Returns Retry-After with the whole seconds until the key's minute ends, at least 1. */
const retryAfter = ({ requests, tokens }: KeyLimitStates): Readonly<Record<string, string>> => ({
  'retry-after': String(Math.max(1, Math.ceil(((requests ?? tokens)?.reset_ms ?? 0) / 1000))),
});

type Headers = (refusal: LeaseRefusal) => Readonly<Record<string, string>>;

const VERDICT_HEADERS: Readonly<Partial<Record<LeaseRefusal['verdict'], Headers>>> = {
  rate_limit_exceeded: ({ limits }) => retryAfter(limits),
  // Common SDKs retry every 409, but this response would not change.
  duplicate_request: () => NO_RETRY,
};

/** Cost and output of a refused request. */
interface RefusedNeed {
  /** Its highest cost, with the smallest output if it sets no limit. */
  readonly micros: number;
  /** Returns the output limit that an amount pays on every route; 0 if that is too little. */
  readonly tokensFor: (micros: number) => number;
}

/** Maps billing's refusal to an error with rate limit headers. Without a need, the body was not read. */
export const toRefusal = (refusal: LeaseRefusal, need?: RefusedNeed): AppError => {
  const shortfall = shortfallOf(refusal, need);
  return new AppError(refusal.verdict, shortfall && explain(refusal.verdict, shortfall), {
    details: { ...shortfall, ...refusal.duplicate_of },
    headers: { ...rateLimitHeaders(refusal.limits), ...VERDICT_HEADERS[refusal.verdict]?.(refusal) },
  });
};

interface Shortfall {
  readonly available_micros: number;
  readonly needed_micros: number | null;
  readonly affordable_output_tokens: number;
}

/** Returns what wallet and month lack; undefined for refusals by other limits. */
const shortfallOf = ({ available_micros }: LeaseRefusal, need: RefusedNeed | undefined): Shortfall | undefined =>
  available_micros === undefined
    ? undefined
    : {
        available_micros,
        needed_micros: need?.micros ?? null,
        affordable_output_tokens: need?.tokensFor(available_micros) ?? 0,
      };

/** Writes a message for people, because most clients show nothing else. */
const explain = (
  verdict: LeaseRefusal['verdict'],
  { available_micros, needed_micros, affordable_output_tokens }: Shortfall,
): string => {
  const { description } = errorCodes[verdict];
  if (needed_micros === null) return `${description} It has ${available_micros} micros left.`;
  const amounts = `The request needs ${needed_micros} micros, and ${available_micros} are left.`;
  return affordable_output_tokens === 0
    ? `${description} ${amounts}`
    : `${description} ${amounts} An output limit of ${affordable_output_tokens} tokens would fit.`;
};

interface KeyAdmission {
  readonly requestId: string;
  readonly caller: ApiKeyCaller;
  readonly request: HeldRequest;
  /** Routes that may serve the request. The most expensive one determines the hold. */
  readonly candidates: readonly TokenRoute[];
  readonly service: TokenRoute['service'];
  readonly idempotencyKey: string | undefined;
}

interface AdmittedKeyRequest {
  readonly book: RequestBook;
  /** Rate limit headers, set on every response from here on. */
  readonly headers: Readonly<Record<string, string>>;
  /** Amount that it holds. Smaller than its maximum cost if wallet or month cover no more. */
  readonly holdMicros: number;
}

/**
 * Takes a request's maximum cost from a lease of its key, and opens its book. A request without its own output limit takes what
 * is left, if that pays for a small output. Throws the refusal, or `service_unavailable` if
 * billing does not decide or the queue of usage records is full.
 */
export const admitKeyRequest = async (deps: KeyRequestDeps, admission: KeyAdmission): Promise<AdmittedKeyRequest> => {
  const { requestId, caller, request, service, idempotencyKey } = admission;
  requireRoom(deps, {
    account: caller.userId,
    bytesMax: service === 'embeddings' ? EMBEDDINGS_RESPONSE_BYTES_MAX : INFERENCE_JSON_BYTES_MAX,
  });
  const startedAtMs = deps.clock();
  const estimateMicros = estimateOf(admission);
  const identity: RequestIdentity = {
    requestId,
    kind: 'api_key',
    userId: caller.userId,
    clientId: null,
    keyId: caller.keyId,
    service,
    model: request.model,
    ingressRegion: deps.ingressRegion,
    isStreamed: request.isStreamed,
    startedAtMs,
  };
  const common = { identity, estimateMicros, usage: deps.usage, clock: deps.clock };
  const { candidates } = admission;
  const micros = holdOf(request, candidates);
  const microsLeast = canBeFitted(request) ? holdOf(request, candidates, FITTED_TOKENS_MIN) : micros;
  const need = {
    micros,
    ...(microsLeast < micros ? { microsLeast } : {}),
    knownMicros: estimateMicros,
    ...tokensOf(admission),
  };
  const decision = await deps.leases.spend(caller, { requestId, ...need, idempotencyKey }).catch((error: unknown) => {
    // Billing may remember the key although its response was lost, so it learns that nothing was sent.
    if (idempotencyKey !== undefined) void openRequestBook(common).finishFailed({ isUncertain: false, status: 503 });
    throw error;
  });
  if (decision.verdict !== 'granted') {
    throw toRefusal(decision, { micros: microsLeast, tokensFor: (amount) => tokensFor(admission, amount) });
  }
  const { spending, limits } = decision;
  const holdMicros = spending.lease.hold_micros;
  return { book: openRequestBook({ ...common, spending }), headers: rateLimitHeaders(limits), holdMicros };
};

/** Returns the output limit that an amount pays on every route; 0 if that is too little, or nothing is generated. */
const tokensFor = ({ request, candidates }: KeyAdmission, amountMicros: number): number => {
  if (request.choicesWanted === 0) return 0;
  const limits = candidates.map((route) => affordableOutput(request, route, amountMicros));
  const tokens = Math.min(...limits.filter((limit) => limit !== undefined));
  const isUseful = tokens >= Math.max(FITTED_TOKENS_MIN, request.outputTokensMin);
  return isUseful && Number.isFinite(tokens) ? tokens : 0;
};

/** Estimates the cost before the response begins: the input, at the price of the preferred route. */
const estimateOf = ({ request, candidates: [preferred] }: KeyAdmission): number =>
  preferred === undefined ? 0 : costSoFar(request, { route: preferred, reported: undefined, outputBytes: 0 });

/**
 * Returns the tokens to reserve from the key's rate limit: the maximum over all routes. A request without its own output
 * limit accepts what is left of the minute, if that covers its input and one more token.
 */
const tokensOf = ({ caller, request, candidates }: KeyAdmission) => {
  if (typeof caller.tokensPerMinute !== 'number') return { tokens: 0, tokensLeast: 0 };
  const needs = candidates.map((route) => holdTokens(request, route));
  const tokens = Math.max(...needs.map(({ input, output }) => input + output));
  const tokensLeast = canBeFitted(request)
    ? Math.min(tokens, Math.max(...needs.map(({ input }) => input)) + 1)
    : tokens;
  return { tokens, tokensLeast };
};
