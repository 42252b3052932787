import { z } from 'zod';

/** A reference of Stripe: an id, or the object itself where it is expanded. */
export const referenceSchema = z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]);

/** Returns the id of a Stripe reference, expanded or not. */
export const idOf = (reference: string | { readonly id: string }): string =>
  typeof reference === 'string' ? reference : reference.id;
