import { isConnectionFailure } from '@svc/database';
import type { Clock, Logger, Metrics } from '@svc/service-kit';
import { HOUR_MS, later, SECOND_MS } from './time.ts';

const BACKOFF_MIN_MS = 5 * SECOND_MS;
const BACKOFF_MAX_MS = HOUR_MS;
/** Items remembered per kind of work. Beyond it the oldest is tried again early. */
const ITEMS_MAX = 1_000;

/** Work in the background that consists of items. */
export type Work = 'suspensions' | 'erasures' | 'password_resets' | 'domain_checks' | 'mail' | 'housekeeping';

/**
 * Items of one kind of work that failed. They are set aside with a growing pause, so that the others do not wait for
 * them. Each replica keeps its own.
 */
export interface FailingItems {
  /**
   * Runs the work on one item, whose id it passes to `claimed`. A failure is logged, counted and sets the item aside;
   * then returns `failed`. Rethrows a failure before the claim, or of the database, which is not the item's.
   */
  readonly attempt: <T>(work: (claimed: (id: string) => void) => Promise<T>) => Promise<T | 'failed'>;
  /** Lists the ids of the items that are set aside now. */
  readonly setAside: () => string[];
}

export interface FailingItemsDeps {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
  readonly metrics: Pick<Metrics, 'counter' | 'gauge'>;
}

interface Failure {
  readonly failures: number;
  readonly until: Date;
}

/** Creates the items of one kind of work. */
export const createFailingItems = (work: Work, deps: FailingItemsDeps): FailingItems => {
  const { clock, logger, metrics } = deps;
  const failed = metrics.counter({
    name: 'auth_work_item_failures_total',
    help: 'Failed attempts at an item of background work, such as one erasure.',
    labelNames: ['work'],
  });
  const failing = metrics.gauge({
    name: 'auth_work_items_failing',
    help: 'Items of background work whose last attempt failed.',
    labelNames: ['work'],
  });
  // Prometheus sees a counter grow only if it has been 0 before.
  failed.inc({ work }, 0);
  failing.set({ work }, 0);
  const items = new Map<string, Failure>();
  const setAside = (id: string): void => {
    const failures = (items.get(id)?.failures ?? 0) + 1;
    const pauseMs = Math.min(BACKOFF_MIN_MS * 2 ** (failures - 1), BACKOFF_MAX_MS);
    items.delete(id);
    items.set(id, { failures, until: later(clock(), pauseMs) });
    const [oldest] = items.keys();
    if (items.size > ITEMS_MAX && oldest !== undefined) items.delete(oldest);
  };
  return {
    attempt: async (run) => {
      let claimedId: string | undefined;
      try {
        const outcome = await run((id) => {
          claimedId = id;
        });
        if (claimedId !== undefined) items.delete(claimedId);
        return outcome;
      } catch (error) {
        if (claimedId === undefined || isConnectionFailure(error)) throw error;
        setAside(claimedId);
        failed.inc({ work });
        logger.error({ component: work, target: claimedId, err: error }, 'an item failed and is tried again later');
        return 'failed';
      } finally {
        failing.set({ work }, items.size);
      }
    },
    setAside: () => {
      const now = clock();
      // Another replica may have completed an item that is due again and does not return.
      for (const [id, { until }] of items) if (later(until, BACKOFF_MAX_MS) < now) items.delete(id);
      failing.set({ work }, items.size);
      return [...items].filter(([, { until }]) => until > now).map(([id]) => id);
    },
  };
};
