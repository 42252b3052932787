import { AppError } from '../app-error.ts';
import type { Clock } from '../clock.ts';

/** Greatest age of a person's authentication for sensitive acts. */
export interface StepUp {
  /** STEP_UP_MAX_AGE_SECONDS. */
  readonly maxAgeSeconds: number;
  readonly clock: Clock;
}

/**
 * Throws `reauthentication_required` if the person authenticated too long ago. Routes with `stepUp` check this before
 * their handler; a handler calls it where only some of its requests are sensitive.
 */
export const requireRecentAuthentication = (
  caller: { readonly authenticatedAt: Date },
  { maxAgeSeconds, clock }: StepUp,
): void => {
  const ageMs = clock().getTime() - caller.authenticatedAt.getTime();
  if (ageMs > maxAgeSeconds * 1000) throw new AppError('reauthentication_required');
};
