import type { Admission } from '@svc/contracts';

/** Maps the rest of a key's limit per minute to the contract; empty if the key has no such limit. */
export const limitState = (
  name: 'rate_limit' | 'token_limit',
  limit: number | null | undefined,
  remaining: number | null,
  resetMs: number,
): Pick<Admission, 'rate_limit' | 'token_limit'> =>
  limit === null || limit === undefined || remaining === null
    ? {}
    : { [name]: { limit, remaining, reset_ms: resetMs } };
