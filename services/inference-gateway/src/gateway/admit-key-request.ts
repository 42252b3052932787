import type { AdmissionRequest } from '@svc/contracts';
import { type ApiKeyCaller, AppError } from '@svc/service-kit';
import { type CompletionRequest, costSoFar, holdOf, holdTokens } from '../completions/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import type { TokenRoute } from '../routes/index.ts';
import { openRequestBook, type RequestBook } from '../usage-records/index.ts';
import { toRefusal } from './key-refusal.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';

/** What is asked for. */
export interface KeyAdmission {
  readonly requestId: string;
  readonly caller: ApiKeyCaller;
  readonly request: CompletionRequest;
  /** The routes that may serve it; the dearest decides what is held. */
  readonly candidates: readonly TokenRoute[];
  readonly service: TokenRoute['service'];
  readonly idempotencyKey: string | undefined;
}

/** An admitted request. */
export interface AdmittedKeyRequest {
  readonly book: RequestBook;
  /** The minute's budget of the key, for every answer from here on. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Asks billing to admit a request and to hold in the wallet what it can cost at most, and opens its book. Throws what the
 * caller is to be told: the refusal, or `service_unavailable` where billing does not say or too many records wait.
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
  const question: AdmissionRequest = {
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
  const answer = await deps.billing.admit(question).catch((error: unknown) => {
    // Billing may have admitted it without our hearing of it: this gives the hold back.
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

/** The cost of the input on the preferred route: all that an answer is known to cost before it begins. */
const estimateOf = ({ request, candidates: [preferred] }: KeyAdmission): number =>
  preferred === undefined ? 0 : costSoFar(request, { route: preferred, reported: undefined, outputBytes: 0 });

/**
 * Tokens to reserve of the key's minute: the most that any route may need. A request without its own output limit takes what
 * is left of the minute if that is less, but at least its input and one token more.
 */
const tokensOf = ({ caller, request, candidates }: KeyAdmission) => {
  if (typeof caller.tokensPerMinute !== 'number') return {};
  const needs = candidates.map((route) => holdTokens(request, route));
  const tokens = Math.max(...needs.map(({ input, output }) => input + output));
  const isLimited = request.outputTokensMax !== undefined || request.answersCount === 0;
  const tokensLeast = isLimited ? tokens : Math.min(tokens, Math.max(...needs.map(({ input }) => input)) + 1);
  return { tokens_per_minute: caller.tokensPerMinute, tokens, tokens_least: tokensLeast };
};
