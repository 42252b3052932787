import type { Admission } from '@svc/contracts';

type Limits = Pick<Admission, 'rate_limit' | 'token_limit'>;

/** Returns the state of the key's rate limits in the headers of the common wire format; none without limits. */
export const rateLimitHeaders = ({ rate_limit, token_limit }: Limits): Readonly<Record<string, string>> => ({
  ...limitHeaders('requests', rate_limit),
  ...limitHeaders('tokens', token_limit),
});

const limitHeaders = (unit: 'requests' | 'tokens', state: Limits['rate_limit']): Readonly<Record<string, string>> =>
  state === undefined
    ? {}
    : {
        [`x-ratelimit-limit-${unit}`]: String(state.limit),
        [`x-ratelimit-remaining-${unit}`]: String(state.remaining),
        [`x-ratelimit-reset-${unit}`]: `${state.reset_ms / 1000}s`,
      };

/** Returns Retry-After with the whole seconds until the key's minute ends, at least 1. */
export const retryAfter = ({ rate_limit, token_limit }: Limits): Readonly<Record<string, string>> => ({
  'retry-after': String(Math.max(1, Math.ceil(((rate_limit ?? token_limit)?.reset_ms ?? 0) / 1000))),
});
