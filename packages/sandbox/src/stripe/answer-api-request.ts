import type { Account } from './account.ts';
import { CardError, Outage, Refusal } from './account.ts';
import type { Fields } from './objects.ts';
import { type ApiRequest, answerRequest } from './requests.ts';

/** A request of Stripe's API. */
export interface ApiCall extends ApiRequest {
  /** True if it carries a secret key. */
  readonly isAuthorized: boolean;
  readonly idempotencyKey: string | undefined;
  readonly version: string | undefined;
}

export interface ApiResponse {
  readonly status: number;
  readonly body: Fields;
}

/** Answers of requests by idempotency key. */
export type KeptAnswers = Map<string, { readonly request: string; readonly answer: ApiResponse; readonly at: number }>;

/** Life of an idempotency key. */
const KEY_SECONDS = 24 * 3600;

/** Answers a request, once for its idempotency key. Resolves with undefined if the connection is to be closed instead. */
export const answerApiRequest = async (
  account: Account,
  call: ApiCall,
  { answers, undelivered }: { readonly answers: KeptAnswers; readonly undelivered: readonly Fields[] },
): Promise<ApiResponse | undefined> => {
  if (!call.isAuthorized) return failure(401, { message: 'You did not provide an API key' });
  const fault = account.misbehavior.faults.shift();
  if (fault === 'reset') return undefined;
  if (fault !== undefined) return failure(fault, { type: 'api_error', message: 'the stand-in is out of order' });
  const { method, path, params, idempotencyKey: key } = call;
  const request = JSON.stringify([method, path, params]);
  const now = account.objects.nowSeconds();
  const known = key === undefined ? undefined : answers.get(key);
  if (known !== undefined && known.at > now - KEY_SECONDS) {
    if (known.request === request) return known.answer;
    return failure(400, { type: 'idempotency_error', message: 'Keys can only be used with the same parameters' });
  }
  const answer = await attempt(account, call, undelivered);
  // Stripe keeps what a request has changed, or a card has declined.
  if (key !== undefined && (answer.status === 200 || answer.status === 402)) {
    answers.set(key, { request, answer, at: now });
  }
  return (await account.misbehavior.losesAnswer(method, path)) ? undefined : answer;
};

const attempt = async (
  account: Account,
  { method, path, params }: ApiCall,
  undelivered: readonly Fields[],
): Promise<ApiResponse> => {
  try {
    const body = await answerRequest(account, { method, path, params }, undelivered);
    if (body === undefined) return failure(404, { code: 'resource_missing', message: 'No such object' });
    return { status: 200, body: structuredClone(body) };
  } catch (error) {
    if (error instanceof CardError) {
      const { message: code, payment } = error;
      const payment_intent = structuredClone(payment);
      return failure(402, { type: 'card_error', code, message: code, payment_intent });
    }
    if (error instanceof Outage) return failure(500, { type: 'api_error', message: 'the stand-in is out of order' });
    if (!(error instanceof Refusal)) throw error;
    return failure(400, { code: error.message, message: error.message, param: error.param });
  }
};

const failure = (status: number, error: Fields): ApiResponse => ({
  status,
  body: { error: { type: 'invalid_request_error', ...error } },
});
