import type { Product } from './product.ts';

/** Something that goes wrong, and what it must alert of. */
export interface Condition {
  readonly alerts: readonly string[];
  /** Makes it go wrong. */
  readonly begin?: (product: Product) => Promise<void>;
  /** What goes on while it lasts: before the scrape of each of its minutes, from 0. */
  readonly eachMinute?: (product: Product, minute: number) => Promise<void>;
  /** Mends it. */
  readonly end?: (product: Product) => Promise<void>;
}
