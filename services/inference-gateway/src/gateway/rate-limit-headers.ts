import type { KeyLimitStates } from '../leases/index.ts';

type LimitState = KeyLimitStates['requests'];

/** Returns the state of the key's rate limits in the headers of the common wire format; none without limits. */
export const rateLimitHeaders = ({ requests, tokens }: KeyLimitStates): Readonly<Record<string, string>> => ({
  ...limitHeaders('requests', requests),
  ...limitHeaders('tokens', tokens),
});

const limitHeaders = (unit: 'requests' | 'tokens', state: LimitState): Readonly<Record<string, string>> =>
  state === undefined
    ? {}
    : {
        [`x-ratelimit-limit-${unit}`]: String(state.limit),
        [`x-ratelimit-remaining-${unit}`]: String(state.remaining),
        [`x-ratelimit-reset-${unit}`]: `${state.reset_ms / 1000}s`,
      };

/** Returns Retry-After with the whole seconds until the key's minute ends, at least 1. */
export const retryAfter = ({ requests, tokens }: KeyLimitStates): Readonly<Record<string, string>> => ({
  'retry-after': String(Math.max(1, Math.ceil(((requests ?? tokens)?.reset_ms ?? 0) / 1000))),
});
