import { Stripe } from 'stripe';

/** Runs a call over the network to the provider. */
export type CallProvider = <T>(work: () => T) => Promise<T>;

export interface CallOptions {
  readonly idempotencyKey?: string;
}

/** Runs a call once for its idempotency key. */
export type Once = <T>(options: CallOptions, work: () => T) => Promise<T>;

/** Returns an object. Throws as the library does if there is none. */
export const found = <T>(object: T | undefined): T => {
  if (object !== undefined) return object;
  throw new Stripe.errors.StripeInvalidRequestError({
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: 'No such object',
  });
};

/** A list whose pages the library fetches by itself. One page holds all objects here. */
export const pages = <T>(call: CallProvider, list: () => readonly T[]) => ({
  async *[Symbol.asyncIterator]() {
    yield* await call(list);
  },
  autoPagingToArray: () => call(list),
});

/** A list of which only the first page is read. */
export const onePage = async <T>(
  call: CallProvider,
  list: () => readonly T[],
): Promise<{ readonly data: readonly T[]; readonly has_more: boolean }> => ({
  data: await call(list),
  has_more: false,
});
