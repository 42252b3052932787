import type { Knex } from 'knex';

/** `cancel`: the subscription ends with its period. `keep`: the deletion was cancelled. `erase`: it ends now. */
export type WantedEnding = 'cancel' | 'keep' | 'erase';

/** End of an account that the payment provider does not know of yet. */
export interface AccountEnding {
  readonly userId: string;
  readonly wanted: WantedEnding;
  readonly cancelledSubscriptionId: string | null;
}

export const upsertEnding = async (trx: Knex.Transaction, userId: string, wanted: WantedEnding): Promise<void> => {
  await trx('account_endings')
    .insert({ svc_user_id: userId, wanted, is_applied: false, updated_at: trx.raw('billing_now()') })
    .onConflict('svc_user_id')
    .merge(['wanted', 'is_applied', 'updated_at']);
};

/** Lists endings that wait, the longest waiting first. */
export const listWaitingEndings = async (database: Knex, limit: number): Promise<AccountEnding[]> => {
  const rows = await database('account_endings')
    .where({ is_applied: false })
    .orderBy('updated_at')
    .limit(limit)
    .select('svc_user_id', 'wanted', 'cancelled_subscription_id');
  return rows.map((row) => ({
    userId: row.svc_user_id,
    wanted: row.wanted,
    cancelledSubscriptionId: row.cancelled_subscription_id,
  }));
};

/** Moves an ending that failed behind the others, so that none waits for it. */
export const deferEnding = async (database: Knex, userId: string): Promise<void> => {
  await database('account_endings')
    .where({ svc_user_id: userId })
    .update({ updated_at: database.raw('billing_now()') });
};

/** Remembers the subscription that is about to be cancelled; null once it is resumed. */
export const updateCancelledSubscription = async (database: Knex, userId: string, id: string | null): Promise<void> => {
  await database('account_endings').where({ svc_user_id: userId }).update({ cancelled_subscription_id: id });
};

/** Marks an ending as applied, unless auth has announced another since. */
export const markEndingApplied = async (database: Knex, { userId, wanted }: AccountEnding): Promise<void> => {
  await database('account_endings').where({ svc_user_id: userId, wanted }).update({ is_applied: true });
};
