import { INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import { type ApiKeyCaller, AppError } from '@svc/service-kit';
import {
  affordableOutput,
  type CompletionRequest,
  canBeFitted,
  costSoFar,
  FITTED_TOKENS_MIN,
  holdOf,
  holdTokens,
} from '../completions/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import { openRequestBook, type RequestBook, type RequestIdentity } from '../usage-records/index.ts';
import { EMBEDDINGS_ANSWER_BYTES_MAX } from './embeddings/embeddings-shape.ts';
import { rateLimitHeaders, toRefusal } from './key-refusal.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';

export interface KeyAdmission {
  readonly requestId: string;
  readonly caller: ApiKeyCaller;
  readonly request: CompletionRequest;
  /** Routes that may serve the request. The most expensive one determines the hold. */
  readonly candidates: readonly TokenRoute[];
  readonly service: TokenRoute['service'];
  readonly idempotencyKey: string | undefined;
}

export interface AdmittedKeyRequest {
  readonly book: RequestBook;
  /** Rate limit headers, set on every answer from here on. */
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
  if (!deps.usage.hasRoom()) throw new AppError('service_unavailable', undefined, { headers: { 'retry-after': '2' } });
  const { requestId, caller, request, service, idempotencyKey } = admission;
  // Once forwarded, an answer waits for memory as long as it takes.
  deps.answerMemory.checkRoom(
    caller.userId,
    service === 'embeddings' ? EMBEDDINGS_ANSWER_BYTES_MAX : INFERENCE_JSON_BYTES_MAX,
  );
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
    // Billing may remember the key although its answer was lost, so it learns that nothing was sent.
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
  if (request.answersCount === 0) return 0;
  const limits = candidates.map((route) => affordableOutput(request, route, amountMicros));
  const tokens = Math.min(...limits.filter((limit) => limit !== undefined));
  const isUseful = tokens >= Math.max(FITTED_TOKENS_MIN, request.outputTokensMin);
  return isUseful && Number.isFinite(tokens) ? tokens : 0;
};

/** Estimates the cost before the answer begins: the input, at the price of the preferred route. */
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
