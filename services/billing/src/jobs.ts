import { AppError, type Logger, type Metrics } from '@svc/service-kit';
import type { Knex } from 'knex';

/** Failures in a row after which an item is counted for the alert. */
const ATTEMPTS_OF_CONCERN = 3;
const FIRST_DELAY_SECONDS = 30;
/** Longest wait of an item that fails by itself. */
const DELAY_SECONDS_MAX = 6 * 3600;
/** Longest wait of an item that failed because the payment provider was away. */
const OUTAGE_DELAY_SECONDS_MAX = 300;
/** An item that is still failing is tried long before. */
const FORGOTTEN_DAYS = 7;

/** Puts an item back. Its delay doubles with each failure in a row. */
const deferItem = async (
  database: Knex,
  { work, item }: { readonly work: Work; readonly item: string },
  { reason, isOutage }: { readonly reason: string; readonly isOutage: boolean },
): Promise<void> => {
  await database.raw(
    `INSERT INTO deferred_items AS d (work, item, attempts, reason, due_at)
      VALUES (:work, :item, 1, :reason, billing_now() + make_interval(secs => :first))
      ON CONFLICT (work, item) DO UPDATE SET attempts = d.attempts + 1, reason = excluded.reason,
        due_at = billing_now() + make_interval(secs => least(:first * 2 ^ least(d.attempts, 20), :most))`,
    {
      work,
      item,
      reason,
      first: FIRST_DELAY_SECONDS,
      most: isOutage ? OUTAGE_DELAY_SECONDS_MAX : DELAY_SECONDS_MAX,
    },
  );
};

/** Forgets the failures of an item that was done. */
export const forgetFailures = async (database: Knex, work: Work, item: string): Promise<void> => {
  await database('deferred_items').where({ work, item }).delete();
};

/** Lists items of the work whose delay is over, those that failed least first. */
export const listDeferredItems = async (database: Knex, work: Work, limit: number): Promise<string[]> =>
  await database('deferred_items')
    .where({ work })
    .whereRaw('due_at <= billing_now()')
    .orderBy(['attempts', 'due_at'])
    .limit(limit)
    .pluck('item');

/** Leaves out items that wait for their next attempt, and puts those that have failed behind those that have not. */
export const whereDue = <Q extends Knex.QueryBuilder>(query: Q, work: Work, column: string): Q => {
  query
    .whereNotExists((deferred) => {
      deferred
        .from('deferred_items AS d')
        .where('d.work', work)
        .whereRaw('d.item = ?? AND d.due_at > billing_now()', [column]);
    })
    .orderByRaw('(SELECT d.attempts FROM deferred_items AS d WHERE d.work = ? AND d.item = ??) NULLS FIRST', [
      work,
      column,
    ]);
  return query;
};

/** Counts the items of each work that keep failing. Deletes those that nothing has tried for long. */
export const countDeferredItems = async (database: Knex): Promise<ReadonlyMap<Work, number>> => {
  await database('deferred_items')
    .whereRaw('due_at < billing_now() - make_interval(days => ?)', [FORGOTTEN_DAYS])
    .delete();
  const rows: { work: Work; count: number }[] = await database('deferred_items')
    .where('attempts', '>=', ATTEMPTS_OF_CONCERN)
    .groupBy('work')
    .select('work', database.raw('count(*)::int AS count'));
  return new Map(rows.map(({ work, count }) => [work, count]));
};

/** Name of work on many items, in the log, the metrics and the table of deferred items. */
export type Work =
  | 'account_endings'
  | 'automatic_charges'
  | 'automatic_top_ups'
  | 'checkouts'
  | 'events'
  | 'gauges'
  | 'invoices'
  | 'refunds'
  | 'seats'
  | 'subscriptions';

/** Work that runs periodically, apart from all other work. */
export interface Job {
  readonly name: Work;
  readonly intervalMs: number;
  readonly run: () => Promise<void>;
}

/** An object of the payment provider that cannot be understood. It concerns one item only, and may be mended later. */
export class UnreadableObject extends Error {
  override readonly name = 'UnreadableObject';
  readonly reason: UnreadableReason;

  constructor(reason: UnreadableReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** `shape`: a member is missing. `status`, `price`: unknown ones. `missing`: the provider knows no such object. */
type UnreadableReason = 'shape' | 'status' | 'price' | 'missing';

/** Metrics of periodic work. */
interface JobMeters {
  readonly failed: (work: Work, reason: string) => void;
  readonly deferred: (items: ReadonlyMap<Work, number>) => void;
}

/** Work that has items. All have a sample from the start, so that an alert sees the first failure. */
const WORK_WITH_ITEMS: readonly Work[] = [
  'account_endings',
  'automatic_charges',
  'automatic_top_ups',
  'checkouts',
  'events',
  'invoices',
  'refunds',
  'seats',
  'subscriptions',
];

export const createJobMeters = (metrics: Metrics): JobMeters => {
  const failures = metrics.counter({
    name: 'billing_work_failures_total',
    help: 'Items of periodic work that failed and were put back, and whole runs that failed (reason `run`).',
    labelNames: ['work', 'reason'],
  });
  const deferred = metrics.gauge({
    name: 'billing_deferred_items',
    help: 'Items of periodic work that have failed at least three times in a row.',
    labelNames: ['work'],
  });
  return {
    failed: (work, reason) => failures.inc({ work, reason }),
    deferred: (items) => {
      for (const work of WORK_WITH_ITEMS) deferred.set({ work }, items.get(work) ?? 0);
    },
  };
};

export interface JobDeps {
  readonly database: Knex;
  readonly logger: Logger;
  readonly jobMeters: JobMeters;
}

/** Failures of the provider in a row after which a run ends. All of its other items would wait as long. */
const OUTAGES_MAX = 3;

/**
 * Does the work for each item. An item that fails is logged, counted and put back, and the others go on. During an outage
 * of the payment provider the run ends early.
 */
export const runItems = async (
  deps: JobDeps,
  work: Work,
  items: readonly string[],
  run: (item: string) => Promise<unknown>,
): Promise<void> => {
  let outages = 0;
  for (const item of items) {
    try {
      await run(item);
      await forgetFailures(deps.database, work, item);
      outages = 0;
    } catch (error) {
      await putBack(deps, { work, item }, error);
      outages = isOutage(error) ? outages + 1 : 0;
      if (outages === OUTAGES_MAX) return;
    }
  }
};

/** Logs and counts the failure of an item, and puts the item back. */
export const putBack = async (
  { database, logger, jobMeters }: JobDeps,
  { work, item }: { readonly work: Work; readonly item: string },
  error: unknown,
): Promise<void> => {
  const reason = reasonOf(error);
  jobMeters.failed(work, reason);
  logger.error({ component: work, target: item, reason, err: error }, 'an item failed; it will be tried again later');
  await deferItem(database, { work, item }, { reason, isOutage: isOutage(error) });
};

/** Names the reason of a failure: one word of a short list. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof UnreadableObject) return error.reason;
  if (error instanceof AppError) return error.code;
  // Errors of the provider's library name their class in `type`.
  const type = error instanceof Error && 'type' in error ? String(error.type) : '';
  return type.startsWith('Stripe') ? 'refused' : 'internal';
};

const isOutage = (error: unknown): boolean => error instanceof AppError && error.kind === 'unavailable';
