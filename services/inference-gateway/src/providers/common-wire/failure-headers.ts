import type { UpstreamFailure } from './upstream-failure.ts';

/** What the answer to a failed request says of repeating it: the common SDKs repeat every 5xx, unless told otherwise. */
export const failureHeaders = ({ retryAfter, isUncertain }: UpstreamFailure): Readonly<Record<string, string>> => ({
  ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  ...(isUncertain ? { 'x-should-retry': 'false' } : {}),
});
