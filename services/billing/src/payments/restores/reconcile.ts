import { AppError } from '@svc/service-kit';
import type { Stripe } from 'stripe';
import { putBack, reasonOf } from '../../jobs/index.ts';
import type { ListenerDeps } from '../events/index.ts';
import { listRestored, type RestoredItem } from './list-restored.ts';

/** Objects of Stripe that were compared with a restored database. */
export interface Reconciled {
  readonly reconciled: number;
  /** Objects that could not be settled. The others were. */
  readonly failed: readonly FailedObject[];
}

interface FailedObject {
  readonly object: string;
  readonly reason: string;
}

/** Objects settled at the same time. */
const PARALLEL = 4;
/** Objects in a row that Stripe does not answer about. After that it is away. */
const OUTAGES_MAX = 8;
/** Listed failures. So many have a common cause. */
const FAILED_MAX = 1_000;

/**
 * Reconciles with Stripe after the database was restored to an earlier moment. Recreates lost rows from Stripe's metadata.
 * An object that fails is listed and put back, and the others go on. Idempotent.
 */
export const reconcileWithStripe = (deps: ListenerDeps, since: Date): Promise<Reconciled> =>
  settleRestored(deps, since, async (item) => {
    try {
      await item.settle(deps);
    } catch (error) {
      if (item.place !== null) await putBack(deps, item.place, error);
      throw error;
    }
  });

/** Settles every object that may have changed since. Throws the failure of an outage that lasts. */
export const settleRestored = async (
  deps: { readonly database: ListenerDeps['database']; readonly stripe: Stripe },
  since: Date,
  settle: (item: RestoredItem) => Promise<unknown>,
): Promise<Reconciled> => {
  const failed: FailedObject[] = [];
  let reconciled = 0;
  let outages = 0;
  const attempt = async (item: RestoredItem): Promise<void> => {
    try {
      await settle(item);
      reconciled += 1;
      outages = 0;
    } catch (error) {
      outages = error instanceof AppError && error.kind === 'unavailable' ? outages + 1 : 0;
      if (outages > OUTAGES_MAX) throw error;
      if (failed.length < FAILED_MAX) failed.push({ object: item.object, reason: reasonOf(error) });
    }
  };
  for await (const items of inGroups(listRestored(deps, since))) await Promise.all(items.map(attempt));
  return { reconciled, failed };
};

async function* inGroups<T>(items: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < PARALLEL) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
