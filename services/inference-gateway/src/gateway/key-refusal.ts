import type { Admission } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { rateLimitHeaders, retryAfter } from './rate-limit-headers.ts';

/** The error by which a key learns of billing's refusal, with the budget of its minute. */
export const toRefusal = (answer: Admission, verdict: Exclude<Admission['verdict'], 'admitted'>): AppError => {
  const headers = rateLimitHeaders(answer.rate_limit);
  return new AppError(verdict, undefined, {
    headers: verdict === 'rate_limit_exceeded' ? { ...headers, ...retryAfter(answer.rate_limit) } : headers,
  });
};
