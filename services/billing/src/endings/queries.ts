import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';

/** `cancel`: the subscription ends with its period. `keep`: the deletion was cancelled. `erase`: it ends now. */
export type WantedEnding = 'cancel' | 'keep' | 'erase';

/** End of an account that the payment provider does not know of yet. */
export interface AccountEnding {
  readonly userId: string;
  readonly wanted: WantedEnding;
  readonly cancelledSubscriptionId: string | null;
}

const COLUMNS = recordColumns<AccountEnding>({
  userId: 'svc_user_id text',
  wanted: 'wanted text',
  cancelledSubscriptionId: 'cancelled_subscription_id text',
});

export const upsertEnding = async (trx: Knex.Transaction, userId: string, wanted: WantedEnding): Promise<void> => {
  await trx('account_endings')
    .insert({ svc_user_id: userId, wanted, is_applied: false, updated_at: trx.raw('billing_now()') })
    .onConflict('svc_user_id')
    .merge(['wanted', 'is_applied', 'updated_at']);
};

/** Lists endings that wait, the longest waiting first. */
export const listWaitingEndings = async (database: Knex, limit: number): Promise<AccountEnding[]> =>
  await database('account_endings')
    .select<AccountEnding[]>(database.raw(COLUMNS.select('account_endings')))
    .where({ is_applied: false })
    .orderBy('updated_at')
    .limit(limit);

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
