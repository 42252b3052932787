import type { MemberJson } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { withOutbox } from '@svc/messaging';
import { type Act, AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient, OrganizationMember } from '../auth-client.ts';
import { findLiveSubscription, lockCustomer, type ReducerDeps, readNow } from '../subscriptions/index.ts';
import { endSeat, storeSeat } from './follow-order.ts';
import {
  countSeats,
  findLiveOrder,
  findOrder,
  findSeat,
  hasMembershipEnded,
  insertSeat,
  lockSeats,
  updateSeatOrder,
} from './queries.ts';
import { assignableSeats, type Seat, type StoredOrder } from './seat-order.ts';

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
export const takeAway = async (deps: ReducerDeps, trx: Knex.Transaction, seat: Seat | undefined): Promise<boolean> => {
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
