import type { Catalog } from './catalog.ts';
import type { Misbehavior } from './misbehavior.ts';
import type { Fields, StripeObjects } from './objects.ts';

/** An account at Stripe: its objects, its prices, and what happens in it. */
export interface Account {
  readonly objects: StripeObjects;
  readonly catalog: Catalog;
  /** Base of the addresses of hosted pages. */
  readonly publicBaseUrl: string;
  readonly misbehavior: Misbehavior;
  /** Records an event about the present state of an object. */
  readonly raise: (type: string, object: Fields) => void;
  /** Delivers the events that were recorded so far, in order. */
  readonly announce: () => Promise<void>;
}
