import type { Admission } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { rateLimitHeaders, retryAfter } from './rate-limit-headers.ts';

type Refusal = Exclude<Admission['verdict'], 'admitted'>;

const VERDICT_HEADERS: Readonly<Partial<Record<Refusal, (answer: Admission) => Readonly<Record<string, string>>>>> = {
  rate_limit_exceeded: retryAfter,
  // Stock SDKs repeat every 409; the answer would be the same each time.
  duplicate_request: () => ({ 'x-should-retry': 'false' }),
};

/** Returns the error for billing's refusal, with what is left of the key's minute. */
export const toRefusal = (answer: Admission, verdict: Refusal): AppError => {
  return new AppError(verdict, undefined, {
    details: answer.duplicate_of ?? {},
    headers: { ...rateLimitHeaders(answer), ...VERDICT_HEADERS[verdict]?.(answer) },
  });
};
