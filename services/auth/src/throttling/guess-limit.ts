import type { Clock } from '@svc/service-kit';
import { MINUTE_MS } from '../time.ts';
import type { Transact } from '../transact.ts';
import { beginAttempt, digest, sourceDigest } from './attempt-throttle.ts';

/** Wrong codes of devices from one source. A person types one or two. */
const GUESSES_PER_SOURCE_MAX = 20;
/** From all sources: far fewer than would meet one of the codes that wait, even if those are many. */
const GUESSES_MAX = 5_000;
const WINDOW_MS = 10 * MINUTE_MS;

/** Limits guesses of the codes that devices show, in the database, across replicas and restarts. */
export interface GuessLimit {
  /**
   * Looks a code up. A result of undefined counts as a wrong guess. Throws `too_many_attempts` with `Retry-After` if
   * there were too many, even for a right one.
   */
  readonly look: <T>(source: string, find: () => Promise<T | undefined>) => Promise<T | undefined>;
}

export const createGuessLimit = (deps: { readonly transact: Transact; readonly clock: Clock }): GuessLimit => ({
  look: async (source, find) => {
    const digests = { addressDigest: digest('device-code'), sourceDigest: sourceDigest('device-code', source) };
    const attempt = await beginAttempt(deps, {
      digests,
      windowMs: WINDOW_MS,
      quotas: [
        { column: 'source_digest', value: digests.sourceDigest, max: GUESSES_PER_SOURCE_MAX },
        { column: 'address_digest', value: digests.addressDigest, max: GUESSES_MAX },
      ],
    });
    const found = await find();
    await (found === undefined ? attempt.fail() : attempt.succeed());
    return found;
  },
});
