import { events, internalRoutes } from '@svc/contracts';
import { recordColumns } from '@svc/database';
import { type Consumer, hasSubject, type Messaging, startConsumer } from '@svc/messaging';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { forgetFailures, type JobDeps, putBack, runItems, UnreadableObject, whereDue } from './jobs.ts';
import { deleteAlertSettings } from './limits/index.ts';
import {
  deleteAutoTopUp,
  disableAutoTopUp,
  endSubscription,
  forgetCustomer,
  refreshSubscription,
  type SettleCheckoutDeps,
  setCancelAtPeriodEnd,
} from './payments/index.ts';
import { endSeatOfErased, listLiveOrdersOf, updateCancelledByDeletion } from './seats/index.ts';
import { findLiveSubscription, isPaidByOwner } from './subscriptions/index.ts';

/** `cancel`: the subscription ends with its period. `keep`: the deletion was cancelled. `erase`: it ends now. */
type WantedEnding = 'cancel' | 'keep' | 'erase';

/** End of an account that the payment provider does not know of yet. */
interface AccountEnding {
  readonly userId: string;
  readonly wanted: WantedEnding;
  readonly cancelledSubscriptionId: string | null;
}

const COLUMNS = recordColumns<AccountEnding>({
  userId: 'svc_user_id text',
  wanted: 'wanted text',
  cancelledSubscriptionId: 'cancelled_subscription_id text',
});

const upsertEnding = async (trx: Knex.Transaction, userId: string, wanted: WantedEnding): Promise<void> => {
  await trx('account_endings')
    .insert({ svc_user_id: userId, wanted, is_applied: false, updated_at: trx.raw('billing_now()') })
    .onConflict('svc_user_id')
    .merge(['wanted', 'is_applied', 'updated_at']);
  // A new wish does not wait for the failures of the former one.
  await forgetFailures(trx, 'account_endings', userId);
};

/** Lists the accounts whose ending waits, the longest waiting first, but for those that wait after a failure. */
const listWaitingEndings = async (database: Knex, limit: number): Promise<string[]> =>
  await whereDue(
    database('account_endings').where({ is_applied: false }),
    'account_endings',
    'account_endings.svc_user_id',
  )
    .orderBy('updated_at')
    .limit(limit)
    .pluck('svc_user_id');

/** Finds an ending that is not applied yet. */
const findWaitingEnding = async (database: Knex, userId: string): Promise<AccountEnding | undefined> =>
  await database('account_endings')
    .select<AccountEnding[]>(database.raw(COLUMNS.select('account_endings')))
    .where({ svc_user_id: userId, is_applied: false })
    .first();

/**
 * Lists accounts whose erasure was recorded or tried since a moment, by id. Their rows stay, under the pseudonymous id.
 */
const listErasedAccounts = async (
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
const updateCancelledSubscription = async (database: Knex, userId: string, id: string | null): Promise<void> => {
  await database('account_endings').where({ svc_user_id: userId }).update({ cancelled_subscription_id: id });
};

/** Marks an ending as applied, unless auth has announced another since. */
const markEndingApplied = async (database: Knex, { userId, wanted }: AccountEnding): Promise<void> => {
  await database('account_endings').where({ svc_user_id: userId, wanted }).update({ is_applied: true });
};

/** Endings per call. */
const WAITING_MAX = 50;

/**
 * Tells Stripe of accounts that are to be deleted, kept or erased, and applies what follows. Every step is
 * idempotent, so a crash repeats it.
 */
export const applyAccountDeletions = async (deps: SettleCheckoutDeps & JobDeps): Promise<void> => {
  const userIds = await listWaitingEndings(deps.database, WAITING_MAX);
  await runItems(deps, 'account_endings', userIds, async (userId) => {
    const ending = await findWaitingEnding(deps.database, userId);
    if (ending === undefined) return;
    await applyToPlan(deps, ending);
    await applyToSeats(deps, ending);
    if (ending.wanted === 'erase') await forgetCustomer(deps, userId);
    await markEndingApplied(deps.database, ending);
  });
};

const applyToPlan = async (deps: SettleCheckoutDeps & JobDeps, ending: AccountEnding): Promise<void> => {
  const { database } = deps;
  const { userId, wanted, cancelledSubscriptionId } = ending;
  const found = await findLiveSubscription(database, userId);
  // A seat ends with its membership. Its organization goes on paying for it.
  if (found !== undefined && !isPaidByOwner(found)) {
    if (wanted === 'erase') await endSeatOfErased(deps, found);
    return;
  }
  const live = found;
  const change = async (tell: (id: string) => Promise<void>): Promise<void> => {
    if (live === undefined) return;
    await tell(live.providerSubscriptionId);
    await refresh(deps, live.providerSubscriptionId);
  };
  switch (wanted) {
    case 'cancel':
      if (live === undefined || live.cancelAtPeriodEnd) return;
      await updateCancelledSubscription(database, userId, live.id);
      await change((id) => setCancelAtPeriodEnd(deps, id, true));
      return;
    case 'keep':
      // One that its owner had cancelled before stays cancelled.
      if (live?.id === cancelledSubscriptionId) await change((id) => setCancelAtPeriodEnd(deps, id, false));
      await updateCancelledSubscription(database, userId, null);
      return;
    case 'erase':
      await change((id) => endSubscription(deps, id));
  }
};

/** Ends, resumes or cancels the seats that an organization pays. */
const applyToSeats = async (deps: SettleCheckoutDeps & JobDeps, { userId, wanted }: AccountEnding): Promise<void> => {
  for (const order of await listLiveOrdersOf(deps.database, userId)) {
    const { id, providerSubscriptionId, cancelAtPeriodEnd, isCancelledByDeletion } = order;
    if (wanted === 'erase') await endSubscription(deps, providerSubscriptionId);
    else if (wanted === 'cancel' ? cancelAtPeriodEnd : !isCancelledByDeletion) continue;
    else {
      await updateCancelledByDeletion(deps.database, id, true);
      await setCancelAtPeriodEnd(deps, providerSubscriptionId, wanted === 'cancel');
      if (wanted === 'keep') await updateCancelledByDeletion(deps.database, id, false);
    }
    await refresh(deps, providerSubscriptionId);
  }
};

/** Refreshes a subscription that was changed. One that cannot be read is put back by itself: the ending is applied. */
const refresh = async (deps: SettleCheckoutDeps & JobDeps, id: string): Promise<void> => {
  try {
    await refreshSubscription(deps, id);
  } catch (error) {
    if (!(error instanceof UnreadableObject)) throw error;
    await putBack(deps, { work: 'subscriptions', item: id }, error);
  }
};

const { accountDeletionRequested, accountDeletionCancelled, accountErased } = events;

/**
 * Starts the consumer of facts about the deletion of accounts, in their order. `applyAccountDeletions` calls the
 * payment provider afterwards, because a transaction must not wait for it.
 */
export const startAccountDeletionConsumer = (deps: {
  readonly database: Knex;
  readonly messaging: Messaging;
}): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'billing_account-endings',
    subjects: [accountDeletionRequested.subject, accountDeletionCancelled.subject, accountErased.subject],
    ordered: true,
    handle: async (trx, fact) => {
      const userId = fact.data.svc_user_id;
      if (hasSubject(fact, accountDeletionCancelled.subject)) return await upsertEnding(trx, userId, 'keep');
      // Nothing is charged to an account that is about to go.
      await disableAutoTopUp(trx, userId);
      if (hasSubject(fact, accountDeletionRequested.subject)) return await upsertEnding(trx, userId, 'cancel');
      await upsertEnding(trx, userId, 'erase');
      await deleteAutoTopUp(trx, userId);
      await deleteAlertSettings(trx, userId);
    },
  });

const PAGE_MAX = 1_000;

/** Binds the internal route that remembers erased accounts for auth. */
export const accountDeletionRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.listErasedAccounts, async ({ query }) => {
    const page = { since: new Date(query.since), after: query.after, limit: PAGE_MAX + 1 };
    const found = await listErasedAccounts(database, page);
    return { status: 200, body: { data: found.slice(0, PAGE_MAX), has_more: found.length > PAGE_MAX } };
  }),
];
