import { UpstreamFailure } from './common-wire/index.ts';

/**
 * Tries one route after the other, as long as it is certain that the last one generated nothing. Throws the last failure.
 */
export const tryInOrder = async <R, T>(routes: readonly R[], attempt: (route: R) => Promise<T>): Promise<T> => {
  let last: UpstreamFailure | undefined;
  for (const route of routes) {
    try {
      return await attempt(route);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || !error.mayTryNext) throw error;
      last = error;
    }
  }
  throw last ?? new UpstreamFailure('unreachable');
};
