import { UpstreamFailure } from './common-wire/index.ts';

/**
 * Tries one route after the other, as long as it is certain that the last one generated nothing. Throws the last failure of
 * a provider; where no route was sent anything, the one that may be asked again first. `onFailed` hears of each route whose
 * provider had the request and did not serve it.
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
 * Which of two failures of routes the caller is told: one of a provider first, and of those the last one, unless another knows
 * better when to come again; then the one that may be asked again first.
 */
export const failureToReport = (first: UpstreamFailure, second: UpstreamFailure): UpstreamFailure => {
  if (second.reason === 'unreachable' && first.reason === 'busy') return first;
  if (second.reason !== 'held_back') return second;
  if (first.reason !== 'held_back') return first;
  return Number(first.retryAfter) <= Number(second.retryAfter) ? first : second;
};
