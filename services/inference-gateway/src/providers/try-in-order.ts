import { UpstreamFailure } from '../upstream-failure.ts';

/**
 * Tries routes in order, as long as the previous one has definitely generated nothing. Throws the most informative failure
 * (see `failureToReport`). Calls `onFailed` for each route whose provider received the request but did not serve it.
 */
export const tryInOrder = async <R, T>(
  routes: readonly R[],
  attempt: (route: R) => Promise<T>,
  onFailed: (route: R) => void,
): Promise<T> => {
  let last: UpstreamFailure | undefined;
  for (const route of routes) {
    try {
      return await attempt(route);
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.hasReachedProvider) onFailed(route);
      if (!error.allowsFallback) throw error;
      last = last === undefined ? error : failureToReport(last, error);
    }
  }
  throw last ?? new UpstreamFailure('unreachable');
};

/**
 * Chooses which of two failures to report. Prefers failures of providers to `held_back`, then the later one; but keeps
 * `busy` over `unreachable`, as it may have Retry-After. Of two held back, returns the one with the earlier retry.
 */
export const failureToReport = (first: UpstreamFailure, second: UpstreamFailure): UpstreamFailure => {
  if (second.reason === 'unreachable' && first.reason === 'busy') return first;
  if (second.reason !== 'held_back') return second;
  if (first.reason !== 'held_back') return first;
  return Number(first.retryAfter) <= Number(second.retryAfter) ? first : second;
};
