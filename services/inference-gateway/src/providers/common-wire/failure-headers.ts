import type { UpstreamFailure } from '../../upstream-failure.ts';

/** Returns the headers that control retries of a failed request. Common SDKs retry every 5xx by default. */
export const failureHeaders = ({
  retryAfter,
  allowsFallback,
  isUncertain,
}: UpstreamFailure): Readonly<Record<string, string>> => ({
  // Retry-After is passed on only if a retry is safe.
  ...(allowsFallback && retryAfter !== undefined ? { 'retry-after': retryAfter } : {}),
  ...(isUncertain ? { 'x-should-retry': 'false' } : {}),
});
