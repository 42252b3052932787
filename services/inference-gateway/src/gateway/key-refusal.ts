import type { Admission } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { rateLimitHeaders, retryAfter } from './rate-limit-headers.ts';

type Refusal = Exclude<Admission['verdict'], 'admitted'>;

const VERDICT_HEADERS: Readonly<Partial<Record<Refusal, (answer: Admission) => Readonly<Record<string, string>>>>> = {
  rate_limit_exceeded: retryAfter,
  // Common SDKs retry every 409, but this answer would not change.
  duplicate_request: () => ({ 'x-should-retry': 'false' }),
};

/** Maps billing's refusal to an error with rate limit headers. */
export const toRefusal = (answer: Admission, verdict: Refusal): AppError =>
  new AppError(verdict, undefined, {
    details: answer.duplicate_of ?? {},
    headers: { ...rateLimitHeaders(answer), ...VERDICT_HEADERS[verdict]?.(answer) },
  });
