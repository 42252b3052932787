import type { AdmissionRequest } from '@svc/contracts';
import { type ApiKeyCaller, AppError } from '@svc/service-kit';
import { type CompletionRequest, costSoFar, holdOf, holdTokens } from '../completions/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import type { TokenRoute } from '../routes/index.ts';
import { openRequestBook, type RequestBook } from '../usage-records/index.ts';
import { toRefusal } from './key-refusal.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';

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
}

/**
 * Asks billing to admit a request with a hold of its maximum cost, and opens its book. Throws the refusal, or
 * `service_unavailable` if billing returns no decision or the queue of usage records is full.
 */
export const admitKeyRequest = async (deps: InferenceDeps, admission: KeyAdmission): Promise<AdmittedKeyRequest> => {
  if (!deps.usage.hasRoom()) throw new AppError('service_unavailable');
  const { requestId, caller, request, service } = admission;
  const holdMicros = holdOf(request, admission.candidates);
  const estimateMicros = estimateOf(admission);
  const book = openRequestBook({
    identity: {
      requestId,
      kind: 'api_key',
      userId: caller.userId,
      clientId: null,
      keyId: caller.keyId,
      service,
      model: request.model,
      ingressRegion: deps.ingressRegion,
      isStreamed: request.isStreamed,
      startedAtMs: deps.clock(),
    },
    estimateMicros,
    usage: deps.usage,
    clock: deps.clock,
  });
  const admissionRequest: AdmissionRequest = {
    kind: 'api_key',
    request_id: requestId,
    svc_user_id: caller.userId,
    key_id: caller.keyId,
    hold_micros: holdMicros,
    estimate_micros: estimateMicros,
    holder_id: deps.holder.id,
    requests_per_minute: caller.requestsPerMinute ?? null,
    ...tokensOf(admission),
    ...(admission.idempotencyKey === undefined ? {} : { idempotency_key: admission.idempotencyKey }),
    monthly_limit_micros: caller.monthlyLimitMicros ?? null,
  };
  const answer = await deps.billing.admit(admissionRequest).catch((error: unknown) => {
    // Billing may have admitted the request even though its answer was lost, so release the hold.
    void book.finishFailed({ isUncertain: false, status: 503 });
    throw error;
  });
  if (answer.verdict !== 'admitted') {
    deps.keyStandings.forget(caller);
    throw toRefusal(answer, answer.verdict);
  }
  deps.keyStandings.noteAdmitted(caller);
  book.reportTo(deps.holder);
  return { book, headers: rateLimitHeaders(answer) };
};

/** Estimates the cost before the answer begins: the input, at the price of the preferred route. */
const estimateOf = ({ request, candidates: [preferred] }: KeyAdmission): number =>
  preferred === undefined ? 0 : costSoFar(request, { route: preferred, reported: undefined, outputBytes: 0 });

/**
 * Returns the tokens to reserve from the key's rate limit: the maximum over all routes. A request without its own output
 * limit accepts what is left of the minute, if that covers its input and one more token.
 */
const tokensOf = ({ caller, request, candidates }: KeyAdmission) => {
  if (typeof caller.tokensPerMinute !== 'number') return {};
  const needs = candidates.map((route) => holdTokens(request, route));
  const tokens = Math.max(...needs.map(({ input, output }) => input + output));
  const isLimited = request.outputTokensMax !== undefined || request.answersCount === 0;
  const tokensLeast = isLimited ? tokens : Math.min(tokens, Math.max(...needs.map(({ input }) => input)) + 1);
  return { tokens_per_minute: caller.tokensPerMinute, tokens, tokens_least: tokensLeast };
};
