import { events, type MemberJson } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Consumer, type Messaging, startConsumer, withOutbox } from '@svc/messaging';
import { type Act, AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient, OrganizationMember } from '../auth-client.ts';
import {
  findLiveSubscription,
  findSubscriptionById,
  lockCustomer,
  type ReducerDeps,
  readNow,
  type StoreDeps,
  type StoredSubscription,
  storeState,
} from '../subscriptions/index.ts';
import {
  countSeats,
  findLiveOrder,
  findOrder,
  findSeat,
  findSeatOfMembership,
  hasMembershipEnded,
  insertEndedMembership,
  insertSeat,
  listUnfollowedSeats,
  lockSeats,
  updateFollowed,
  updateSeatEnded,
  updateSeatFollowed,
  updateSeatOrder,
} from './queries.ts';
import { assignableSeats, type Seat, type SeatOrder, type StoredOrder, toSubscription } from './seat-order.ts';

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
const storeSeat = async (
  deps: StoreDeps,
  trx: Knex.Transaction,
  { order, seat: { subscriptionId: id, userId }, end }: SeatChange,
): Promise<void> => {
  const customer = await lockCustomer(trx, userId);
  const stored = await findSubscriptionById(trx, id);
  await storeState(deps, trx, { customer, stored, next: toSubscription(order, { id, userId }, end) });
};

/** Ends a seat at once. It is free for another member. */
const endSeat = async (
  deps: StoreDeps,
  trx: Knex.Transaction,
  change: SeatChange & { readonly end: NonNullable<SeatChange['end']> },
): Promise<void> => {
  await storeSeat(deps, trx, change);
  await updateSeatEnded(trx, change.seat.subscriptionId);
};

export interface SeatDeps extends ReducerDeps {
  readonly database: Knex;
  readonly relay: { readonly hint: () => void };
  readonly auth: Pick<AuthClient, 'findMember'>;
}

interface Assignment {
  readonly organizationId: string;
  readonly userId: string;
  readonly act: Act;
}

/**
 * Gives a member a seat of a plan, moves the member's seat to another plan, or takes it away (null). Returns the member. Throws
 * `not_found` for a person who is no member, `no_free_seat`, and `member_has_plan` while the member has a live plan that this
 * organization does not pay.
 */
export const assignSeat = async (
  deps: SeatDeps,
  { organizationId, userId, act }: Assignment,
  planId: string | null,
): Promise<MemberJson> => {
  const member = await deps.auth.findMember(organizationId, userId);
  if (member === undefined) throw new AppError('not_found');
  await withOutbox(deps, async (trx) => {
    await lockSeats(trx, organizationId);
    const seat = await findSeat(trx, { organizationId, userId });
    const isChanged =
      planId === null
        ? await takeAway(deps, trx, seat)
        : await give(deps, trx, { organizationId, member, seat, planId });
    if (isChanged) await recordAct(trx, act, { type: 'member', id: userId, name: `${member.name}: ${planId ?? '–'}` });
    else act.changedNothing();
  });
  const { membership_id: _, ...rest } = member;
  return { ...rest, seat: planId };
};

/** Takes a seat away. Returns false if there is none. */
const takeAway = async (deps: ReducerDeps, trx: Knex.Transaction, seat: Seat | undefined): Promise<boolean> => {
  if (seat === undefined) return false;
  const order = await findOrder(trx, seat.orderId);
  if (order === undefined) throw new Error(`the order ${seat.orderId} of a seat is missing`);
  await endSeat(deps, trx, { order, seat, end: { status: 'canceled', at: await readNow(trx) } });
  return true;
};

interface Wanted {
  readonly organizationId: string;
  readonly member: OrganizationMember;
  readonly seat: Seat | undefined;
  readonly planId: string;
}

/** Gives a seat of the plan. Returns false if the member has one. */
const give = async (
  deps: SeatDeps,
  trx: Knex.Transaction,
  { organizationId, member, seat, planId }: Wanted,
): Promise<boolean> => {
  const { svc_user_id: userId, membership_id: membershipId } = member;
  // The member may have been removed after auth answered.
  if (await hasMembershipEnded(trx, membershipId)) throw new AppError('not_found');
  const order = await findLiveOrder(trx, { organizationId, planId });
  if (order !== undefined && order.id === seat?.orderId) return false;
  if (order === undefined || !(await isFree(trx, order))) throw new AppError('no_free_seat');
  if (seat !== undefined) {
    await updateSeatOrder(trx, seat.subscriptionId, order);
    await storeSeat(deps, trx, { order, seat });
    return true;
  }
  await lockCustomer(trx, userId);
  if ((await findLiveSubscription(trx, userId)) !== undefined) throw new AppError('member_has_plan');
  const given = {
    subscriptionId: deps.newId('sub'),
    orderId: order.id,
    organizationId,
    userId,
    membershipId,
    orderTicket: order.providerTicket,
  };
  await storeSeat(deps, trx, { order, seat: given });
  await insertSeat(trx, given);
  return true;
};

const isFree = async (trx: Knex.Transaction, order: StoredOrder): Promise<boolean> =>
  (await countSeats(trx, order.id)) < assignableSeats(order);

/**
 * Starts the consumer of removed members: the seat of the membership ends at once. The membership is remembered, so that an
 * assignment that has asked auth before gives no seat.
 */
export const startMembershipConsumer = (
  deps: ReducerDeps & { readonly database: Knex; readonly messaging: Messaging },
): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'billing_memberships',
    subjects: [events.memberRemoved.subject],
    handle: async (trx, { data }) => {
      const membership = { organizationId: data.organization_id, membershipId: data.membership_id };
      await lockSeats(trx, membership.organizationId);
      await insertEndedMembership(trx, membership);
      await takeAway(deps, trx, await findSeatOfMembership(trx, membership));
    },
  });

/** Ends the seat of a member whose account is erased. */
export const endSeatOfErased = (
  deps: ReducerDeps & { readonly database: Knex; readonly relay: { readonly hint: () => void } },
  { userId, paidBy: organizationId }: StoredSubscription,
): Promise<void> =>
  withOutbox(deps, async (trx) => {
    if (organizationId === null) return;
    await lockSeats(trx, organizationId);
    await takeAway(deps, trx, await findSeat(trx, { organizationId, userId }));
  });
