import type { Admission } from '@svc/contracts';

type RateLimit = Admission['rate_limit'];

/** The key's budget of this minute, in the names that SDKs of the common wire format know; none without a limit. */
export const rateLimitHeaders = (state: RateLimit): Readonly<Record<string, string>> =>
  state === undefined
    ? {}
    : {
        'x-ratelimit-limit-requests': String(state.limit),
        'x-ratelimit-remaining-requests': String(state.remaining),
        'x-ratelimit-reset-requests': `${state.reset_ms / 1000}s`,
      };

/** Whole seconds until a request may be admitted again, never less than one. */
export const retryAfter = (state: RateLimit): Readonly<Record<string, string>> => ({
  'retry-after': String(Math.max(1, Math.ceil((state?.reset_ms ?? 0) / 1000))),
});
