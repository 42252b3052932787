import { isId } from '@svc/contracts';
import type { Knex } from 'knex';
import {
  asPaid,
  findSubscriptionById,
  isEnded,
  lockCustomer,
  type ProviderSubscription,
  type ReducerDeps,
  type ReportedState,
  readNow,
  type StoreDeps,
  storeState,
} from '../subscriptions/index.ts';
import {
  findLiveOrder,
  findOrder,
  findOrderByProvider,
  listSeatsOfOrder,
  lockSeats,
  updateSeatEnded,
  upsertOrder,
} from './queries.ts';
import { type Seat, type SeatOrder, type StoredOrder, toSubscription } from './seat-order.ts';

/**
 * Outcome of a reported state. `stale`: a later report has been applied already. `ignored`: the order had ended before billing
 * first saw it. `another_live`: the organization already has live seats of the plan. The caller must ask for the present state
 * of those, and end these only if the others are still live.
 */
export type OrderOutcome =
  | { readonly outcome: 'applied' | 'stale' | 'ignored' }
  | { readonly outcome: 'another_live'; readonly live: StoredOrder };

/**
 * Applies Stripe's report of the seats of an organization, in the caller's transaction: the seats that members have follow. All
 * of them end with the order, and the newest end if the order pays for fewer.
 */
export const applyOrderState = async (
  deps: ReducerDeps,
  trx: Knex.Transaction,
  reported: ReportedState,
): Promise<OrderOutcome> => {
  const { userId: organizationId, providerSubscriptionId } = reported.state;
  await lockSeats(trx, organizationId);
  const stored = await findOrderByProvider(trx, providerSubscriptionId);
  const state = await asPaid(trx, reported);
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
  await followOrder(deps, trx, order);
  return { outcome: 'applied' };
};

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

const followOrder = async (deps: StoreDeps, trx: Knex.Transaction, order: SeatOrder): Promise<void> => {
  const seats = await listSeatsOfOrder(trx, order.id);
  for (const [place, seat] of seats.entries()) {
    if (order.endedAt !== null) {
      const status = order.status === 'unpaid' ? 'unpaid' : 'canceled';
      await endSeat(deps, trx, { order, seat, end: { status, at: order.endedAt } });
    } else if (place >= order.quantity) {
      await endSeat(deps, trx, { order, seat, end: { status: 'canceled', at: await readNow(trx) } });
    } else {
      await storeSeat(deps, trx, { order, seat });
    }
  }
};

/** A seat with the order that pays it. With an end, the seat is over. */
interface SeatChange {
  readonly order: SeatOrder;
  readonly seat: Pick<Seat, 'subscriptionId' | 'userId'>;
  readonly end?: Parameters<typeof toSubscription>[2];
}

/** Stores the subscription of a seat as its order has it, and publishes what partners can see of the change. */
export const storeSeat = async (
  deps: StoreDeps,
  trx: Knex.Transaction,
  { order, seat: { subscriptionId: id, userId }, end }: SeatChange,
): Promise<void> => {
  const customer = await lockCustomer(trx, userId);
  const stored = await findSubscriptionById(trx, id);
  await storeState(deps, trx, { customer, stored, next: toSubscription(order, { id, userId }, end) });
};

/** Ends a seat at once. It is free for another member. */
export const endSeat = async (
  deps: StoreDeps,
  trx: Knex.Transaction,
  change: SeatChange & { readonly end: NonNullable<SeatChange['end']> },
): Promise<void> => {
  await storeSeat(deps, trx, change);
  await updateSeatEnded(trx, change.seat.subscriptionId);
};
