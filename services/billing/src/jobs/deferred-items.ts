import type { Knex } from 'knex';
import type { Work } from './job.ts';

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
export const deferItem = async (
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
