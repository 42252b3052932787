import type { AutoTopUp } from '@svc/contracts';
import type { Knex } from 'knex';
import type { ProviderName } from '../subscriptions/index.ts';

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
 * ceiling of this UTC month. Only charges that failed do not count. With a user id, lists at most this account.
 */
export const listDueAutoTopUps = async (
  database: Knex,
  { userId, limit }: { readonly userId?: string | undefined; readonly limit: number },
): Promise<string[]> => {
  const { rows } = await database.raw<{ rows: { svc_user_id: string }[] }>(
    `SELECT a.svc_user_id FROM auto_top_ups AS a LEFT JOIN wallets AS w ON w.svc_user_id = a.svc_user_id
      WHERE a.is_enabled AND coalesce(w.balance_micros - w.held_micros, 0) < a.below_micros
        AND (:userId::text IS NULL OR a.svc_user_id = :userId)
        AND NOT EXISTS (SELECT FROM checkout_sessions AS s
          WHERE s.svc_user_id = a.svc_user_id AND s.is_automatic AND s.status = 'open')
        AND a.amount_micros + (SELECT coalesce(sum(s.amount_micros), 0) FROM checkout_sessions AS s
          WHERE s.svc_user_id = a.svc_user_id AND s.is_automatic AND s.status <> 'expired'
            AND s.created_at >= date_trunc('month', (SELECT billing_now()), 'UTC')) <= a.monthly_max_micros
      ORDER BY a.svc_user_id LIMIT :limit`,
    { userId: userId ?? null, limit },
  );
  return rows.map(({ svc_user_id }) => svc_user_id);
};

/** Lists automatic charges that have been open for longer than `ageSeconds`, oldest first. */
export const listOpenCharges = async (database: Knex, ageSeconds: number, limit: number): Promise<string[]> =>
  await database('checkout_sessions')
    .where({ is_automatic: true, status: 'open' })
    .whereRaw('created_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds])
    .orderBy('created_at')
    .limit(limit)
    .pluck('id');

/** Lists completed automatic charges without an invoice, oldest first. */
export const listChargesWithoutInvoice = async (
  database: Knex,
  provider: ProviderName,
  limit: number,
): Promise<string[]> =>
  await database('checkout_sessions')
    .where({ is_automatic: true, status: 'complete', invoiced_at: null, provider })
    .orderBy('completed_at')
    .limit(limit)
    .pluck('id');

export const updateInvoiced = async (database: Knex, id: string): Promise<void> => {
  await database('checkout_sessions')
    .where({ id })
    .update({ invoiced_at: database.raw('billing_now()') });
};
