import type { UpstreamFailure } from '../../upstream-failure/index.ts';

/** What the answer to a failed request says of repeating it: the common SDKs repeat every 5xx, unless told otherwise. */
export const failureHeaders = ({
  retryAfter,
  allowsFallback,
  isUncertain,
}: UpstreamFailure): Readonly<Record<string, string>> => ({
  // When to repeat is told only where repeating is right.
  ...(allowsFallback && retryAfter !== undefined ? { 'retry-after': retryAfter } : {}),
  ...(isUncertain ? { 'x-should-retry': 'false' } : {}),
});
