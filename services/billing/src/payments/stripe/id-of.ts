/** Returns the id of a Stripe reference, expanded or not. */
export const idOf = (reference: string | { readonly id: string }): string =>
  typeof reference === 'string' ? reference : reference.id;
