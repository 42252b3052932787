import type { z } from 'zod';

/**
 * Lets a cross-field rule (`superRefine`) run once the variables that it reads are valid, also if others are not, so that
 * a failed start lists its faults too.
 */
export const whenValid = (
  ...names: readonly string[]
): { readonly when: (payload: z.core.ParsePayload) => boolean } => ({
  when: ({ issues }) => !issues.some(({ path }) => names.includes(String(path?.[0]))),
});
