import type { AutoTopUp } from '@svc/contracts';
import type { Knex } from 'knex';
import { type Work, whereDue } from '../jobs.ts';

interface AutoTopUpRow {
  is_enabled: boolean;
  below_micros: number;
  amount_micros: number;
  monthly_max_micros: number;
}

const toSettings = ({ is_enabled: enabled, ...amounts }: AutoTopUpRow): AutoTopUp => ({ enabled, ...amounts });

const select = (database: Knex, userId: string) =>
  database('auto_top_ups')
    .where({ svc_user_id: userId })
    .first<AutoTopUpRow | undefined>('is_enabled', 'below_micros', 'amount_micros', 'monthly_max_micros');

export const findAutoTopUp = async (database: Knex, userId: string): Promise<AutoTopUp | undefined> => {
  const row = await select(database, userId);
  return row && toSettings(row);
};

/** Finds the settings and locks them until the transaction ends. Every start of a charge does this first. */
export const lockAutoTopUp = async (trx: Knex.Transaction, userId: string): Promise<AutoTopUp | undefined> => {
  const row = await select(trx, userId).forUpdate();
  return row && toSettings(row);
};

export const upsertAutoTopUp = async (
  database: Knex,
  userId: string,
  { enabled, ...amounts }: AutoTopUp,
): Promise<void> => {
  await database('auto_top_ups')
    .insert({ svc_user_id: userId, is_enabled: enabled, ...amounts })
    .onConflict('svc_user_id')
    .merge();
};

export const disableAutoTopUp = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await trx('auto_top_ups').where({ svc_user_id: userId }).update({ is_enabled: false });
};

export const deleteAutoTopUp = async (trx: Knex.Transaction, userId: string): Promise<void> => {
  await trx('auto_top_ups').where({ svc_user_id: userId }).delete();
};

/**
 * Lists accounts whose wallet is below their threshold, that have no open charge, and whose next charge stays within the
 * ceiling of this UTC month. Only charges that failed do not count. Those that failed last by no fault of the card come
 * last, once their delay is over. With a user id, lists at most this account, and in spite of a delay.
 */
export const listDueAutoTopUps = async (
  database: Knex,
  { userId, limit }: { readonly userId?: string | undefined; readonly limit: number },
): Promise<string[]> => {
  const { rows } = await database.raw<{ rows: { svc_user_id: string }[] }>(
    `SELECT a.svc_user_id FROM auto_top_ups AS a LEFT JOIN wallets AS w ON w.svc_user_id = a.svc_user_id
        LEFT JOIN deferred_items AS d ON d.work = :work AND d.item = a.svc_user_id
      WHERE a.is_enabled AND coalesce(w.balance_micros - w.held_micros, 0) < a.below_micros
        AND (:userId::text IS NULL OR a.svc_user_id = :userId)
        AND NOT EXISTS (SELECT FROM checkout_sessions AS s
          WHERE s.svc_user_id = a.svc_user_id AND s.is_automatic AND s.status = 'open')
        AND a.amount_micros + (SELECT coalesce(sum(s.amount_micros), 0) FROM checkout_sessions AS s
          WHERE s.svc_user_id = a.svc_user_id AND s.is_automatic AND s.status <> 'expired'
            AND s.created_at >= date_trunc('month', (SELECT billing_now()), 'UTC')) <= a.monthly_max_micros
        AND (:userId::text IS NOT NULL OR d.due_at IS NULL OR d.due_at <= billing_now())
      ORDER BY d.attempts NULLS FIRST, d.due_at, a.svc_user_id LIMIT :limit`,
    { userId: userId ?? null, limit, work: 'automatic_top_ups' satisfies Work },
  );
  return rows.map(({ svc_user_id }) => svc_user_id);
};

/**
 * Lists automatic charges that were interrupted, oldest first: open for longer than a process takes to make one, or for
 * `revokedAfterSeconds` if the owner does not want charges any more.
 */
export const listOpenCharges = async (
  database: Knex,
  { afterSeconds, revokedAfterSeconds }: { readonly afterSeconds: number; readonly revokedAfterSeconds: number },
  limit: number,
): Promise<string[]> =>
  await whereDue(
    database('checkout_sessions AS s')
      .where({ 's.is_automatic': true, 's.status': 'open' })
      .whereRaw(
        `s.created_at < (SELECT billing_now()) - make_interval(secs => CASE WHEN EXISTS (SELECT FROM auto_top_ups AS a
          WHERE a.svc_user_id = s.svc_user_id AND a.is_enabled) THEN ?::int ELSE ?::int END)`,
        [afterSeconds, revokedAfterSeconds],
      ),
    'automatic_charges',
    's.id',
  )
    .orderBy('s.created_at')
    .limit(limit)
    .pluck('s.id');

/** Returns the first moment of the present UTC month, by which the ceiling counts. */
export const readMonthStart = async (database: Knex): Promise<Date> => {
  const { rows } = await database.raw<{ rows: { start: Date }[] }>(
    "SELECT date_trunc('month', billing_now(), 'UTC') AS start",
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the clock returned no row');
  return row.start;
};

/** Returns true while `after-restore` has not ended for the restore that began the present epoch. */
export const isRestoreUnfinished = async (database: Knex): Promise<boolean> => {
  const row = await database('epochs AS e')
    .leftJoin('finished_restores AS f', 'f.epoch', 'e.epoch')
    .whereRaw('e.epoch = current_epoch() AND e.restored_to IS NOT NULL AND f.epoch IS NULL')
    .first('e.epoch');
  return row !== undefined;
};

/** Records that `after-restore` has ended, so that charges go on. */
export const finishRestore = async (database: Knex, epoch: string): Promise<void> => {
  await database('finished_restores')
    .insert({ epoch, finished_at: database.raw('billing_now()') })
    .onConflict('epoch')
    .ignore();
};

/** Lists completed automatic charges without an invoice, oldest first, but for those that wait after a failure. */
export const listChargesWithoutInvoice = async (database: Knex, limit: number): Promise<string[]> =>
  await whereDue(
    database('checkout_sessions').where({ is_automatic: true, status: 'complete', invoiced_at: null }),
    'invoices',
    'checkout_sessions.id',
  )
    .orderBy('completed_at')
    .limit(limit)
    .pluck('id');

export const updateInvoiced = async (database: Knex, id: string): Promise<void> => {
  await database('checkout_sessions')
    .where({ id })
    .update({ invoiced_at: database.raw('billing_now()') });
};
