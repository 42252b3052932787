import { SECOND_MS } from '../clock.ts';
import type { PresentedRefreshToken } from './token-state.ts';

/** What using a refresh token is. */
export type RefreshUse = 'first' | 'within_grace' | 'reuse';

/**
 * Judges the use of a refresh token. A lost answer must not sign anybody out: the immediate predecessor may be used again
 * for some seconds. Once a later one was used, or the time is over, using it again is theft (RFC 9700 section 4.14.2).
 */
export const judgeRefreshUse = (
  token: Pick<PresentedRefreshToken, 'consumedAt' | 'isOutdated'>,
  graceSeconds: number,
  now: Date,
): RefreshUse => {
  if (token.consumedAt === null) return 'first';
  const ageMs = now.getTime() - token.consumedAt.getTime();
  return !token.isOutdated && ageMs < graceSeconds * SECOND_MS ? 'within_grace' : 'reuse';
};
