import { recordColumns } from '@svc/database';
import type { Knex } from 'knex';
import { forgetFailures, whereDue } from '../jobs/index.ts';

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
  // A new wish does not wait for the failures of the former one.
  await forgetFailures(trx, 'account_endings', userId);
};

/** Lists the accounts whose ending waits, the longest waiting first, but for those that wait after a failure. */
export const listWaitingEndings = async (database: Knex, limit: number): Promise<string[]> =>
  await whereDue(
    database('account_endings').where({ is_applied: false }),
    'account_endings',
    'account_endings.svc_user_id',
  )
    .orderBy('updated_at')
    .limit(limit)
    .pluck('svc_user_id');

/** Finds an ending that is not applied yet. */
export const findWaitingEnding = async (database: Knex, userId: string): Promise<AccountEnding | undefined> =>
  await database('account_endings')
    .select<AccountEnding[]>(database.raw(COLUMNS.select('account_endings')))
    .where({ svc_user_id: userId, is_applied: false })
    .first();

/**
 * Lists accounts whose erasure was recorded or tried since a moment, by id. Their rows stay, under the pseudonymous id.
 */
export const listErasedAccounts = async (
  database: Knex,
  { since, after, limit }: { since: Date; after: string | undefined; limit: number },
): Promise<string[]> =>
  await database('account_endings')
    .where({ wanted: 'erase' })
    .where('updated_at', '>=', since)
    .where('svc_user_id', '>', after ?? '')
    .orderBy('svc_user_id')
    .limit(limit)
    .pluck('svc_user_id');

/** Remembers the subscription that is about to be cancelled; null once it is resumed. */
export const updateCancelledSubscription = async (database: Knex, userId: string, id: string | null): Promise<void> => {
  await database('account_endings').where({ svc_user_id: userId }).update({ cancelled_subscription_id: id });
};

/** Marks an ending as applied, unless auth has announced another since. */
export const markEndingApplied = async (database: Knex, { userId, wanted }: AccountEnding): Promise<void> => {
  await database('account_endings').where({ svc_user_id: userId, wanted }).update({ is_applied: true });
};
