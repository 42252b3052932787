import type { Product } from './product.ts';

/** A fault and the alerts that it must trigger. */
export interface Condition {
  readonly alerts: readonly string[];
  /** Causes the fault. */
  readonly begin?: (product: Product) => Promise<void>;
  /** Runs before the scrape of each minute while the fault lasts; counts from 0. */
  readonly eachMinute?: (product: Product, minute: number) => Promise<void>;
  /** Ends the fault. */
  readonly end?: (product: Product) => Promise<void>;
}
