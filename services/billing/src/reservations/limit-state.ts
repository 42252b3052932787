import type { Admission } from '@svc/contracts';

/** Describes what is left of one limit of a key's minute; empty if the key lacks that limit. */
export const limitState = (
  name: 'rate_limit' | 'token_limit',
  limit: number | null | undefined,
  remaining: number | null,
  resetMs: number,
): Pick<Admission, 'rate_limit' | 'token_limit'> =>
  limit === null || limit === undefined || remaining === null
    ? {}
    : { [name]: { limit, remaining, reset_ms: resetMs } };
