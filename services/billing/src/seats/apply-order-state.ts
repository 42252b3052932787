import { isId } from '@svc/contracts';
import type { Knex } from 'knex';
import {
  asPaid,
  isEnded,
  lockCustomer,
  type ProviderSubscription,
  type ReducerDeps,
  type ReportedState,
  raisePlanNotice,
  readNow,
} from '../subscriptions/index.ts';
import { findLiveOrder, findOrder, findOrderByProvider, lockSeats, upsertOrder } from './queries.ts';
import type { SeatOrder, StoredOrder } from './seat-order.ts';

/**
 * Outcome of a reported state. `stale`: a later report has been applied already. `ignored`: the order had ended before billing
 * first saw it. `another_live`: the organization already has live seats of the plan. The caller must ask for the present state
 * of those, and end these only if the others are still live.
 */
export type OrderOutcome =
  | { readonly outcome: 'applied' | 'stale' | 'ignored' }
  | { readonly outcome: 'another_live'; readonly live: StoredOrder };

/**
 * Applies Stripe's report of the seats of an organization, in the caller's transaction. Afterwards, `followOrder` applies it to the
 * seats that members have.
 */
export const applyOrderState = async (
  deps: ReducerDeps,
  trx: Knex.Transaction,
  reported: ReportedState,
): Promise<OrderOutcome> => {
  const { userId: organizationId, providerSubscriptionId } = reported.state;
  await lockSeats(trx, organizationId);
  const stored = await findOrderByProvider(trx, providerSubscriptionId);
  const state = await asPaid(trx, reported, stored);
  if (stored !== undefined && reported.ticket <= stored.providerTicket) return { outcome: 'stale' };
  if (stored === undefined && isEnded(state.status)) return { outcome: 'ignored' };
  // Makes the organization a customer, for whom the portal opens.
  await lockCustomer(trx, organizationId);
  let { planId } = state;
  const live = isEnded(state.status) ? undefined : await findLiveOrder(trx, { organizationId, planId });
  if (live !== undefined && live.id !== stored?.id) {
    if (stored === undefined || isEnded(stored.status)) return { outcome: 'another_live', live };
    // A plan cannot become one whose seats the organization pays already.
    planId = stored.planId;
  }
  const id = stored?.id ?? (await freeId(trx, state)) ?? deps.newId('sub');
  const order = merge({ ...state, planId }, { id, stored, ticket: reported.ticket, now: await readNow(trx) });
  await upsertOrder(trx, order);
  await raisePlanNotice(deps, trx, {
    before: stored && toNoticed(stored),
    after: toNoticed(order),
    seats: order.quantity,
  });
  return { outcome: 'applied' };
};

/** Returns the order as mails tell of it. Its tickets grow with each state, as revisions do. */
const toNoticed = (order: SeatOrder) => ({
  ...order,
  userId: order.organizationId,
  revision: order.providerTicket,
});

/** Returns the id that the checkout gave the order, unless it was copied to another one at Stripe. */
const freeId = async (trx: Knex.Transaction, { givenId }: ProviderSubscription): Promise<string | undefined> =>
  givenId !== null && isId('sub', givenId) && (await findOrder(trx, givenId)) === undefined ? givenId : undefined;

const merge = (
  state: ProviderSubscription,
  known: {
    readonly id: string;
    readonly stored: StoredOrder | undefined;
    readonly ticket: number;
    readonly now: Date;
  },
): SeatOrder => ({
  id: known.id,
  organizationId: state.userId,
  providerSubscriptionId: state.providerSubscriptionId,
  providerTicket: known.ticket,
  status: state.status,
  planId: state.planId,
  quantity: state.seats ?? 1,
  anchor: state.anchor,
  periodStart: state.periodStart,
  periodEnd: state.periodEnd,
  cancelAtPeriodEnd: state.cancelAtPeriodEnd,
  // Time at which billing first saw this status. The grace period starts here.
  pastDueSince: state.status === 'past_due' ? (known.stored?.pastDueSince ?? known.now) : null,
  endedAt: isEnded(state.status) ? (state.endedAt ?? known.stored?.endedAt ?? known.now) : null,
});
