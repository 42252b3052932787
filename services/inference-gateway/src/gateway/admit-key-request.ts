import { type Admission, type AdmissionRequest, costOfTokens } from '@svc/contracts';
import { type ApiKeyCaller, AppError } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import type { TokenRoute } from '../routes/index.ts';
import { openRequestBook, type RequestBook } from '../usage-records/index.ts';
import { boundInputTokens, type JsonRequest } from '../wire/index.ts';
import type { GatewayRequest } from './endpoints.ts';
import { rateLimitHeaders, retryAfter } from './rate-limit-headers.ts';

/** What is asked for. */
export interface KeyAdmission {
  readonly requestId: string;
  readonly caller: ApiKeyCaller;
  readonly request: JsonRequest<GatewayRequest>;
  /** The routes that may serve it; the dearest decides what is held. */
  readonly candidates: readonly TokenRoute[];
  readonly service: TokenRoute['service'];
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
  const holdMicros = holdOf(deps, admission);
  const book = openRequestBook({
    identity: {
      requestId,
      kind: 'api_key',
      userId: caller.userId,
      clientId: null,
      keyId: caller.keyId,
      service,
      model: request.value.model,
      ingressRegion: deps.ingressRegion,
      isStreamed: request.value.isStreamed,
      startedAtMs: deps.clock(),
    },
    estimateMicros: holdMicros,
    usage: deps.usage,
    clock: deps.clock,
  });
  const question: AdmissionRequest = {
    kind: 'api_key',
    request_id: requestId,
    svc_user_id: caller.userId,
    key_id: caller.keyId,
    hold_micros: holdMicros,
    requests_per_minute: caller.requestsPerMinute ?? null,
    monthly_limit_micros: caller.monthlyLimitMicros ?? null,
  };
  const answer = await deps.billing.admit(question).catch((error: unknown) => {
    // Billing may have admitted it without our hearing of it: this gives the hold back.
    void book.finishFailed({ isUncertain: false, status: 503 });
    throw error;
  });
  const headers = rateLimitHeaders(answer.rate_limit);
  if (answer.verdict !== 'admitted') throw toRefusal(answer, answer.verdict, headers);
  return { book, headers };
};

/** The highest cost that the request can have with any of its routes. */
const holdOf = (deps: InferenceDeps, { request, candidates }: KeyAdmission): number => {
  const { outputTokensMax, answersCount, media } = request.value;
  const input = boundInputTokens(request.bytes, media);
  const output = Math.min((outputTokensMax ?? deps.defaultOutputTokens) * answersCount, deps.outputTokensMax);
  return Math.max(...candidates.map(({ price }) => costOfTokens(price, { input, output })));
};

const toRefusal = (
  answer: Admission,
  verdict: Exclude<Admission['verdict'], 'admitted'>,
  headers: Readonly<Record<string, string>>,
): AppError =>
  new AppError(verdict, undefined, {
    headers: verdict === 'rate_limit_exceeded' ? { ...headers, ...retryAfter(answer.rate_limit) } : headers,
  });
