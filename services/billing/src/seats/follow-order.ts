import { withOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { findSubscriptionById, lockCustomer, readNow, type StoreDeps, storeState } from '../subscriptions/index.ts';
import {
  countSeats,
  findOrder,
  listUnfollowedSeats,
  lockSeats,
  updateFollowed,
  updateSeatEnded,
  updateSeatFollowed,
} from './queries.ts';
import { type Seat, type SeatOrder, toSubscription } from './seat-order.ts';

/** Seats per transaction, so that an organization with thousands of them delays no assignment. */
const SEATS_PER_TRANSACTION = 100;

/**
 * Has the seats that members have follow the state of their order. All of them end with the order, and the newest end if the order
 * pays for fewer. Idempotent: every seat records the state that it follows.
 */
export const followOrder = async (
  deps: StoreDeps & { readonly database: Knex; readonly relay: { readonly hint: () => void } },
  orderId: string,
): Promise<void> => {
  let isDone = false;
  while (!isDone) isDone = await withOutbox(deps, (trx) => followSome(deps, trx, orderId));
};

/** Returns true once all seats follow. */
const followSome = async (deps: StoreDeps, trx: Knex.Transaction, orderId: string): Promise<boolean> => {
  const organizationId = (await findOrder(trx, orderId))?.organizationId;
  if (organizationId === undefined) return true;
  await lockSeats(trx, organizationId);
  const order = await findOrder(trx, orderId);
  if (order === undefined || order.isFollowed) return true;
  const seats = await listUnfollowedSeats(trx, order, SEATS_PER_TRANSACTION);
  const excess = (await countSeats(trx, order.id)) - order.quantity;
  const now = await readNow(trx);
  for (const [place, seat] of seats.entries()) {
    if (order.endedAt !== null) {
      const status = order.status === 'unpaid' ? 'unpaid' : 'canceled';
      await endSeat(deps, trx, { order, seat, end: { status, at: order.endedAt } });
    } else if (place < excess) {
      await endSeat(deps, trx, { order, seat, end: { status: 'canceled', at: now } });
    } else {
      await storeSeat(deps, trx, { order, seat });
      await updateSeatFollowed(trx, seat.subscriptionId, order.providerTicket);
    }
  }
  if (seats.length === SEATS_PER_TRANSACTION) return false;
  await updateFollowed(trx, order.id);
  return true;
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
